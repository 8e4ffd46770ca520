import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { tokenHash } from '#libs/keys';

export interface TestConsole {
  readonly app: INestApplication;
  readonly port: number;
  readonly adminTokenFile: string;
  stop(): Promise<void>;
}

/** A console in this process, on a bus that is there; its admin token is this one. */
export async function startConsole(token: string, env: Readonly<Record<string, string>>): Promise<TestConsole> {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-console-'));
  const adminTokenFile = join(folder, 'admin-token.sha256');
  writeFileSync(adminTokenFile, tokenHash(token));
  Object.assign(process.env, {
    ORRERY_LOG_LEVEL: 'silent',
    ORRERY_ALLOW_UNSAFE_LOG: '1',
    ORRERY_CONSOLE_TOKEN_FILE: adminTokenFile,
    ...env,
  });
  // Modules read the environment when they are made.
  const { ConsoleModule } = await import('./console.module.js');
  const { openDoor } = await import('./http/index.js');
  const { openLive } = await import('./live/index.js');
  const { openScreens } = await import('./screens/index.js');
  const app = await NestFactory.create(ConsoleModule, { logger: false, bodyParser: false });
  openDoor(app);
  openLive(app);
  openScreens(app);
  await app.listen(Number(env['ORRERY_CONSOLE_PORT'] ?? 0), '127.0.0.1');
  return {
    app,
    port: (app.getHttpServer().address() as AddressInfo).port,
    adminTokenFile,
    stop: async () => {
      await app.close();
      rmSync(folder, { recursive: true });
    },
  };
}
