import { z } from 'zod';
import { parseJson } from '#proto';

/** `endpoints.json`: where the parts of a running system listen. Written when everything is ready, removed when it stops. */
export const Endpoints = z.looseObject({
  nats: z.string(),
  /** HTTP monitoring of nats-server; absent when it is not ours. */
  natsMonitor: z.string().optional(),
  /** Without the password. */
  postgres: z.string(),
  console: z.string(),
  /** The same as browsers reach it, when somebody has said so (ORRERY_CONSOLE_URL). */
  consolePublic: z.string().optional(),
  /** The first gateway. */
  aip: z.string(),
  /** The same as devices elsewhere reach it, when somebody has said so (ORRERY_AIP_URL). */
  aipPublic: z.string().optional(),
  /** Every gateway, the first one first. */
  aips: z.array(z.string()).optional(),
  /** The Constellation MCP server; a run's id follows it. */
  mcp: z.string().optional(),
  health: z.record(z.string(), z.string()),
  /** The device with a desktop of its own, where there is one. */
  desktop: z
    .looseObject({
      device: z.string(),
      display: z.string(),
      applications: z.array(z.string()),
      /** It can be looked at. */
      shown: z.boolean(),
    })
    .optional(),
});
export type Endpoints = z.infer<typeof Endpoints>;

export function parseEndpoints(text: string): Endpoints | undefined {
  return Endpoints.safeParse(parseJson(text)).data;
}

/** For files and messages: no user, no password. */
export function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
