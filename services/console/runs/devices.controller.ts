import { Controller, Get, Headers, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import { z } from 'zod';
import { profileEntries, type ProfileEntry } from '#libs/constellation';
import type { QueryAnswer } from '#libs/messaging';
import { DeviceId, ProfileChange, type AgentProfile } from '#proto';
import { callerOf, type CalledRequest, jsonObject, Needs, RefusedError, valid } from '../http/index.js';
import { RegistryWords } from './registry-words.client.js';
import { RunVerbs } from './run-verbs.client.js';

/** What an administrator says of a device. */
export const ProfileWord = z.strictObject({ ...ProfileChange, revision: z.int().min(0).optional() });

/** Devices as they are, what each source says of them, and the word of an administrator. */
@Controller('v1/devices')
export class DevicesController {
  readonly #words: RegistryWords;
  readonly #verbs: RunVerbs;

  constructor(@Inject(RegistryWords) words: RegistryWords, @Inject(RunVerbs) verbs: RunVerbs) {
    this.#words = words;
    this.#verbs = verbs;
  }

  @Get()
  @Needs('registry.devices')
  list(@Req() request: CalledRequest): Promise<QueryAnswer<'registry', 'devices'>> {
    return this.#words.ask(callerOf(request), 'devices', {});
  }

  @Get(':id')
  @Needs('registry.devices')
  async show(
    @Req() request: CalledRequest,
    @Param('id') id: string,
  ): Promise<{ device: AgentProfile; profile: readonly ProfileEntry[] }> {
    const { devices } = await this.#words.ask(callerOf(request), 'devices', {});
    const device = devices.find(({ deviceId }) => deviceId === id);
    if (device === undefined) throw new RefusedError({ code: 'NOT_FOUND', message: `There is no device ${id}.` }, 404);
    return { device, profile: profileEntries(device) };
  }

  @Post(':id/profile')
  @Needs('registry.device-set')
  @HttpCode(200)
  set(
    @Req() request: CalledRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Param('id') id: string,
  ): Promise<QueryAnswer<'registry', 'device-set'>> {
    const deviceId = valid(DeviceId, id);
    const word = valid(ProfileWord, jsonObject(request.body));
    return this.#words.ask(callerOf(request), 'device-set', { id: this.#verbs.idOf(key), deviceId, ...word });
  }

  @Get(':id/workspaces')
  @Needs('device-agent.workspaces')
  workspaces(
    @Req() request: CalledRequest,
    @Param('id') id: string,
  ): Promise<QueryAnswer<'device-agent', 'workspaces'>> {
    return this.#words.workspaces(callerOf(request), valid(DeviceId, id));
  }
}
