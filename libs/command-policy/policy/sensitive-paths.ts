/** Keys and journals of devices and of the system itself; the directories where commands work lie beside them. */
const OWN_PATHS: readonly string[] = [
  '~/.orrery*/{*.json,*.journal,*.yaml,token}',
  '~/.orrery*/{keys,logs,nats,postgres,outputs,secrets}/**',
  '~/.orrery*/devices/*/{*.json,*.journal,token}',
  '~/.orrery*/devices/*/{secrets,outputs}/**',
];

/** What holds secrets: to read it is never an ordinary read. `~` is every home. */
export const SENSITIVE_PATHS: readonly string[] = [
  '/etc/{shadow,gshadow}*',
  '/etc/sudoers',
  '/etc/sudoers.d/**',
  '/etc/{security/opasswd,krb5.keytab,ppp/*-secrets,rndc.key,ipsec.secrets,mysql/debian.cnf}',
  '/etc/ssh/ssh_host_*_key',
  '/etc/ssl/private/**',
  '/etc/pki/tls/private/**',
  '/etc/letsencrypt/{live,archive,keys,accounts}/**',
  '/etc/kubernetes/**',
  '/etc/rancher/**',
  '/etc/wireguard/**',
  '/etc/openvpn/**',
  '/etc/NetworkManager/system-connections/**',
  '/etc/wpa_supplicant/**',
  '/etc/orrery*/**',
  '/etc/{docker,containerd}/certs.d/**',
  '/var/lib/orrery*/**',
  '/var/lib/docker/**',
  '/var/lib/{kubelet,rancher,etcd,sss,private,systemd/credential.secret,mysql,postgresql,redis}/**',
  '/var/spool/{cron,at}/**',
  '/var/{mail,spool/mail}/**',
  '/var/backups/**',
  '/var/run/secrets/**',
  '/run/secrets/**',
  '/run/credentials/**',
  '/tmp/krb5cc_*',
  '/{var/run,run}/{docker,containerd/containerd,crio/crio,podman/podman}.sock',
  '/proc/*/{environ,mem,maps,auxv,root,cwd,map_files,stack,syscall}',
  '/proc/*/{fd,map_files,root,cwd,task}/**',
  '/proc/{kcore,kmem,kpagecontent,keys,kallsyms,sysrq-trigger}',
  '/sys/firmware/efi/efivars/**',
  '/dev/{mem,kmem,port,kmsg}',
  '/dev/{sd,hd,vd,xvd,nvme,mmcblk,dm-,md,loop,nbd,sr,zram}*',
  '/dev/{mapper,disk,vg,block,input,shm,snd,video}/**',
  '/dev/video*',
  '/root',
  '/root/.*',
  '~/.ssh/**',
  '~/.{aws,azure,kube,gnupg,docker,config/gcloud,config/gh,config/op,config/rclone,config/hub,vault-token,local/share/keyrings}/**',
  '~/.{netrc,pgpass,my.cnf,git-credentials,npmrc,pypirc,vault-token,s3cfg,boto,htpasswd,msmtprc,mailrc,fetchmailrc,config/hub}',
  '~/.*{history,_hist,hst}',
  '~/.{mozilla,thunderbird,password-store,electrum,bitcoin}/**',
  '~/.config/{google-chrome,chromium}/**',
  '~/.terraform.d/**',
  ...OWN_PATHS,
  '~/.cargo/credentials*',
  '~/.gem/credentials',
  '**/.ssh/**',
  '**/.{env,netrc,pgpass,htpasswd,npmrc,pypirc,git-credentials}',
  '**/.env.{local,dev,development,test,stage,staging,prod,production,live,ci,docker,bak,backup,old,orig,save,secret}',
  '**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk,asc,gpg,ovpn,keytab}',
  '**/id_{rsa,dsa,ecdsa,ed25519}',
  '**/{credentials,secrets,secret}.{json,yml,yaml,toml,ini,env}',
  '**/{*_history,service-account.json,kubeconfig}',
  '**/.git/{config,credentials}',
  '**/{wp-config.php,terraform.tfstate,master.key,.dockercfg,.dockerconfigjson}',
].flatMap(alternatives);

/** To write here is to change what others run, or who may come in. */
export const GUARDED_PATHS: readonly string[] = [
  '~/.ssh',
  // Every program looks for its settings there, and some settings name programs.
  '~/.*',
  '~/.{bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zshenv,zprofile,zlogin,kshrc,cshrc,tcshrc,login,inputrc,xinitrc,xsession,xsessionrc,xprofile,pam_environment,forward,rhosts,shosts,k5login}',
  '~/.{vimrc,exrc,gvimrc,nanorc,emacs,screenrc,tmux.conf,gitconfig,wgetrc,curlrc,lesskey,psqlrc,sqliterc,gdbinit,Rprofile,irbrc,pryrc,perldb,pythonrc,npmrc,yarnrc,dircolors}',
  '~/.{vim,emacs.d,bashrc.d,bash_completion.d,config,local/bin,local/lib,local/share/systemd,cargo,gem,npm}/**',
  '~/{bin,.bin,go/bin,.local}/**',
  '~/{bin,go}',
  '**/.git/**',
  '**/.{husky,githooks}/**',
  '**/.{git,husky,githooks}',
  // A folder with this is a repository of its own, and its settings name programs.
  '**/HEAD',
  '**/.{envrc,direnvrc,vimrc,exrc,gdbinit,bashrc,profile}',
  '**/authorized_keys{,2}',
  '**/cron.{d,daily,hourly,weekly,monthly}{,/**}',
  '**/*.{service,timer,socket,path,mount}',
  '**/orrery*policy*.{yaml,yml,json}',
  ...OWN_PATHS,
].flatMap(alternatives);

/** Files whose loss leaves a machine that nobody can log in to. */
export const VITAL_PATHS: readonly string[] = [
  '/etc/{passwd,shadow,group,gshadow,fstab,sudoers}',
  '/boot/**',
  '/lib/ld-linux*',
  '/lib64/ld-linux*',
  '/bin/{sh,bash}',
  '/usr/bin/{sh,bash}',
].flatMap(alternatives);

/** To lose one of these as a whole is to lose the machine. */
export const ROOTS: ReadonlySet<string> = new Set(
  '/ /bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr /usr/bin /usr/lib /usr/lib64 /usr/sbin /usr/local /usr/share /var /var/lib'.split(
    ' ',
  ),
);

/** Devices that hold a file system. */
export const BLOCK_DEVICES: readonly string[] = [
  '/dev/{sd,hd,vd,xvd,nvme,mmcblk,dm-,md,nbd,sr}*',
  '/dev/{mapper,disk,block}/**',
  '/dev/{mem,kmem,port}',
].flatMap(alternatives);

/** Devices that may be written to by everybody. */
export const HARMLESS_DEVICES: ReadonlySet<string> = new Set([
  '/dev/null',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/stdin',
  '/dev/tty',
  '/dev/full',
]);

/** Files without an end. */
export const ENDLESS: readonly string[] = [
  '/dev/{zero,urandom,random,full}',
  '/dev/{tty,pts,input}*',
  '/dev/{pts,input}/*',
  '/proc/kmsg',
  '/proc/*/pagemap',
  '/sys/kernel/debug/tracing/**',
  '/dev/console',
].flatMap(alternatives);

/** `{a,b}` in a list of ours. */
export function alternatives(pattern: string): string[] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/su.exec(pattern);
  if (match === null) return [pattern];
  const [, before = '', inside = '', behind = ''] = match;
  return inside.split(',').flatMap((one) => alternatives(`${before}${one}${behind}`));
}
