import { z } from 'zod';
import { livenessPolicy } from '#libs/aip';
import { offerDir } from '#libs/device-offer';
import { envInt } from '#libs/platform';
import { AIP_LIMITS } from '#proto';

const TOGETHER = 'must be set together with';

/** What this service reads beside `ServiceConfig`. */
export const AipGatewayConfig = z
  .object({
    /** Where devices dial in; 0 is any free port. */
    ORRERY_AIP_PORT: envInt({ min: 0, max: 65_535 }).default(5_000),
    /** Origins of pages in browsers that may connect, separated by commas; a device sends none. */
    ORRERY_AIP_ORIGINS: z.string().default(''),
    /** A device that is silent for this long is gone: shorter on good lines, longer where devices sleep. */
    ORRERY_AIP_DEAD_AFTER_MS: envInt({ min: 2_000, max: 3_600_000 }).default(AIP_LIMITS.deadAfterMs),
    /** Sockets at a time. */
    ORRERY_AIP_CONNECTIONS_MAX: envInt({ min: 1, max: 100_000 }).default(10_000),
    /** Certificate of the endpoint (PEM), together with its key; both are read again when they change, and on SIGHUP. */
    ORRERY_AIP_TLS_CERT_FILE: z.string().optional(),
    /** Its private key (PEM). */
    ORRERY_AIP_TLS_KEY_FILE: z.string().optional(),
    /** Clients need a certificate of this authority, beside their token or credential. */
    ORRERY_AIP_TLS_CLIENT_CA_FILE: z.string().optional(),
    /** YAML: parameters that foreign devices' tools get beside what a command says. Holds secrets. */
    ORRERY_AIP_INJECT_FILE: z.string().optional(),
    /** Directory of what machines that are to become devices are given; that of this installation when absent. */
    ORRERY_DEVICE_OFFER: z.string().optional(),
  })
  .superRefine((env, context) => {
    const [cert, key, clientCa] = TLS_VARIABLES.map((name) => env[name] !== undefined);
    const missing = (name: TlsVariable, other: TlsVariable): void =>
      context.addIssue({ code: 'custom', path: [name], message: `${TOGETHER} ${other}` });
    if (cert !== key || (clientCa === true && cert !== true)) {
      const given = TLS_VARIABLES.find((name) => env[name] !== undefined) ?? CERT;
      for (const name of [CERT, KEY] as const) if (env[name] === undefined) missing(name, given);
    }
  })
  .transform((env) => {
    const { ORRERY_AIP_TLS_CERT_FILE: certFile, ORRERY_AIP_TLS_KEY_FILE: keyFile } = env;
    const clientCaFile = env.ORRERY_AIP_TLS_CLIENT_CA_FILE;
    return {
      port: env.ORRERY_AIP_PORT,
      origins: env.ORRERY_AIP_ORIGINS.split(',').flatMap((origin) => origin.trim() || []),
      connectionsMax: env.ORRERY_AIP_CONNECTIONS_MAX,
      liveness: livenessPolicy(env.ORRERY_AIP_DEAD_AFTER_MS),
      tls: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile, clientCaFile },
      injectFile: env.ORRERY_AIP_INJECT_FILE,
      offerDir: offerDir(env.ORRERY_DEVICE_OFFER),
    };
  });
export type AipGatewayConfig = z.infer<typeof AipGatewayConfig>;

const CERT = 'ORRERY_AIP_TLS_CERT_FILE';
const KEY = 'ORRERY_AIP_TLS_KEY_FILE';
const TLS_VARIABLES = [CERT, KEY, 'ORRERY_AIP_TLS_CLIENT_CA_FILE'] as const;
type TlsVariable = (typeof TLS_VARIABLES)[number];
