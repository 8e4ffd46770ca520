import { z } from 'zod';

/** Where the client is installed on a device, when it is not where it usually is. */
export const InstallDir = z
  .string()
  .regex(/^\/[\w./+@-]+$/u, 'must be a whole path of letters, digits and ./+@_-, for example /opt/orrery-device');

/** Certificates (PEM) of the authority that the certificate of a gateway is of, and nothing else. */
export const AuthorityPem = z
  .string()
  .max(65_536)
  .regex(
    /^(?:-----BEGIN CERTIFICATE-----\n[\w+/=\n]+-----END CERTIFICATE-----\s*)+$/u,
    'must hold certificates (PEM) and nothing else',
  );
