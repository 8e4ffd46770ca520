// Where what is installed lies. Everything is in one directory:
//
//   releases/<release>/   what an archive brought, as it was; `current` leads to the one that counts, `previous` to the one before it
//   data/                 what the client keeps: key, journal, token, jail; nobody else may enter
//   settings.json         what it was installed with
//   config.yaml  policy.yaml  secrets/    what the owner of the machine may put there (--config, --policy, --secrets of join)

/** The places of an installation. */
export type InstallPlaces = Readonly<ReturnType<typeof placesIn>>;

export function placesIn(dir: string) {
  const dataDir = `${dir}/data`;
  return {
    dir,
    releases: `${dir}/releases`,
    current: `${dir}/current`,
    previous: `${dir}/previous`,
    program: `${dir}/current/bin/orrery-device`,
    settingsFile: `${dir}/settings.json`,
    caFile: `${dir}/ca.pem`,
    configFile: `${dir}/config.yaml`,
    policyFile: `${dir}/policy.yaml`,
    secretsDir: `${dir}/secrets`,
    dataDir,
    tokenFile: `${dataDir}/token`,
    identityFile: `${dataDir}/identity.json`,
    logFile: `${dataDir}/client.log`,
  };
}
