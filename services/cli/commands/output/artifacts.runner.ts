import { randomBytes } from 'node:crypto';
import { link, lstat, open, unlink, type FileHandle } from 'node:fs/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { ArtifactError, openArtifact, type ArtifactReader } from '#libs/messaging';
import { Sha256 } from '#proto';
import { recordAccess, withBus } from '../../bus/index.js';
import {
  badInput,
  CliError,
  errorCode,
  failure,
  messageOf,
  unreachable,
  EXIT,
  type ExitCode,
  printJson,
  type CliContext,
} from '../../terminal/index.js';

const NAME_BYTES = 6;

/** Fetches the content of an artifact, checked: into a file that is not there yet, or to standard output. */
export async function fetchArtifact(context: CliContext, name: string, file?: string): Promise<ExitCode> {
  const sha256 = Sha256.safeParse(name.toLowerCase());
  if (!sha256.success) throw badInput(`"${name}" is not the name of an artifact: ${sha256.error.issues[0]?.message}.`);
  const target = await freeTarget(context, file);
  return withBus(context, async (nc) => {
    await recordAccess(nc, { what: 'OUTPUT_READ', artifact: sha256.data });
    await writeArtifact(context, nc, { sha256: sha256.data, target });
    return EXIT.ok;
  });
}

interface Fetched {
  readonly sha256: Sha256;
  /** Undefined: standard output. */
  readonly target: string | undefined;
}

/** Writes the content of an artifact where it is wanted, and says so. The reading is recorded by who asks for it. */
export async function writeArtifact(
  context: CliContext,
  nc: NatsConnection,
  { sha256, target }: Fetched,
): Promise<void> {
  const reader = await openReader(nc, sha256);
  if (target === undefined) await copy(reader, (data) => context.terminal.bytes(data));
  else await writeNew(target, reader);
  const { bytes } = reader;
  if (target !== undefined && context.json) printJson(context, { sha256, bytes, file: target });
  else if (target !== undefined) context.terminal.out(`${bytes} bytes written to ${target}`);
}

/** A file that is not there yet; undefined: standard output. Throws CliError. */
export async function freeTarget(context: CliContext, file: string | undefined): Promise<string | undefined> {
  const target = targetOf(context, file);
  if (target !== undefined) await mustBeFree(target);
  return target;
}

/** Undefined: standard output. */
function targetOf({ terminal, json }: CliContext, file: string | undefined): string | undefined {
  if (file !== undefined && file !== '-') return file;
  if (json) throw badInput('With --json the content goes into a file: name it with -o.');
  if (file === undefined && terminal.isTerminal) {
    throw badInput('The content would go to your terminal: name a file with -o, or say -o - if that is what you want.');
  }
  return undefined;
}

async function openReader(nc: NatsConnection, sha256: Sha256): Promise<ArtifactReader> {
  try {
    return await openArtifact(nc, sha256);
  } catch (error) {
    throw explained(error);
  }
}

async function copy(reader: ArtifactReader, write: (data: Uint8Array) => Promise<void>): Promise<void> {
  for (;;) {
    const data = await reader.next().catch((error: unknown) => {
      throw explained(error);
    });
    if (data === null) return;
    await write(data);
  }
}

/** Whole and checked, or not at all; never in the place of another file. */
async function writeNew(file: string, reader: ArtifactReader): Promise<void> {
  const part = `${file}.${randomBytes(NAME_BYTES).toString('hex')}.part`;
  let handle: FileHandle | undefined;
  try {
    const opened = await open(part, 'wx');
    handle = opened;
    await copy(reader, (data) => opened.writeFile(data));
    await handle.sync();
    await link(part, file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw errorCode(error) === 'EEXIST'
      ? taken(file)
      : failure(`${file} cannot be written: ${messageOf(error)}`, error);
  } finally {
    await handle?.close();
    if (handle !== undefined) await unlink(part);
  }
}

async function mustBeFree(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found !== undefined) throw taken(file);
}

const taken = (file: string): CliError => badInput(`${file} is there already; it is not overwritten.`);

function explained(error: unknown): CliError {
  if (!(error instanceof ArtifactError)) {
    return unreachable(`The store of artifacts does not answer: ${messageOf(error)}`, error);
  }
  return /is not stored|was dropped/u.test(error.message) ? badInput(error.message) : failure(error.message, error);
}
