import { join } from 'node:path';
import type { ToolAnswer } from '#libs/mcp';
import type { DeviceConfig } from '../settings/index.js';
import { FileLink, type FileLinkOptions } from './file-link.client.js';
import { FileTools } from './file-tools.adapter.js';
import { StdinFiles } from './stdin-files.client.js';
import type { SecretStore } from '../secrets/index.js';
import type { BuiltInTools, ToolCall } from '../tools/index.js';
import { ToolFiles } from './tool-files.client.js';
import { WholeOutputs } from './whole-outputs.client.js';

export interface DeviceFilesOptions extends FileLinkOptions {
  readonly dataDir: string;
  readonly jailDir: string;
  readonly config: Pick<DeviceConfig, 'files'>;
  readonly secrets: Pick<SecretStore, 'refresh'> | undefined;
}

/** Everything of a device that has to do with files and the store of artifacts. */
export interface DeviceFiles {
  readonly link: FileLink;
  readonly builtIn: BuiltInTools;
  readonly stdin: StdinFiles;
  readonly settle: (answer: ToolAnswer, call: ToolCall) => Promise<ToolAnswer>;
  /** The same for answers of other servers, which may have files in them. */
  readonly settleFiles: ToolFiles['settle'];
}

export function deviceFiles({ dataDir, jailDir, config, secrets, ...options }: DeviceFilesOptions): DeviceFiles {
  const link = new FileLink(options);
  const dir = join(dataDir, 'outputs');
  const toolFiles = new ToolFiles(link);
  const outputs = new WholeOutputs({ dir, link, logger: options.logger });
  return {
    link,
    builtIn: new FileTools({ link, jailDir, allowed: config.files.paths, secrets }),
    stdin: new StdinFiles({ dir: inputsDir(dataDir), link }),
    settle: (answer, call) => outputs.settle(answer, call),
    settleFiles: (answer, call, asked) => toolFiles.settle(answer, call, asked),
  };
}

/** Where what commands read lies until they begin. */
export const inputsDir = (dataDir: string): string => join(dataDir, 'inputs');
