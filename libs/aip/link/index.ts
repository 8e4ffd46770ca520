/**
 * The dialling end of a connection, for devices and for constellations: registers, resumes, dials again.
 */
export { resumeMessages, type Holdings, type ServerFacts, type ServerRequest } from './device-link.js';
export {
  ServerConnection,
  type ConnectionEnd,
  type ConnectionOptions,
  type LinkedDevice,
  type FrameFact,
} from './server-connection.js';
export {
  DeviceClientEndpoint,
  Unwelcome,
  type Credentials,
  type DeviceClientEndpointOptions,
  type LinkFact,
} from './device-client.runner.js';
export {
  ConstellationEndpoint,
  DeviceInfoUnavailable,
  RegistrationRefused,
  type ConstellationEndpointOptions,
  type ConstellationFact,
} from './constellation-client.runner.js';
export type { TaskCall, TaskEnd } from './constellation-link.js';
