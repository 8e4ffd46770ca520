import type { ServerResponse } from 'node:http';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { Sha256 } from '#proto';
import { Needs, valid } from '../http/index.js';
import { sendArtifact } from './artifact-responses.adapter.js';
import { SseResponses } from './sse-responses.adapter.js';

/** Large outputs and files by the SHA-256 of their content. */
export class ArtifactFiles extends SseResponses<Sha256> {
  protected async follow(sha256: Sha256, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { drainMsMax } = this.limits;
    const bytes = { sha256, name: sha256, mediaType: 'application/octet-stream' };
    await sendArtifact(this.nc, bytes, { response, signal, drainMsMax });
  }
}

/** Whoever may read outputs may read what was too large to stand in them: who knows its hash has read of it. */
@Controller('v1/artifacts')
export class ArtifactsController {
  readonly #artifacts: ArtifactFiles;

  constructor(@Inject(ArtifactFiles) artifacts: ArtifactFiles) {
    this.#artifacts = artifacts;
  }

  @Get(':sha256')
  @Needs('READ_OUTPUT')
  read(@Param('sha256') name: string, @Res() response: ServerResponse): Promise<void> {
    return this.#artifacts.serve(valid(Sha256, name), response);
  }
}
