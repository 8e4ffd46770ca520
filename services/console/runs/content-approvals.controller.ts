import { Controller, Get, Headers, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import { z } from 'zod';
import { planContent } from '#libs/constellation';
import { hashCommit } from '#libs/event-log';
import type { QueryAnswer } from '#libs/messaging';
import { ContentAbout, ContentApprovalId, Instant, TaskConstellation } from '#proto';
import { callerOf, type CalledRequest, jsonObject, Needs, optionalJsonObject, valid } from '../http/index.js';
import { RegistryWords } from './registry-words.client.js';
import { RunVerbs } from './run-verbs.client.js';

/** What a person approves once: the plan itself, as it was looked at. Its hash is made here, of that and of nothing else. */
export const ContentWord = z.strictObject({
  constellation: TaskConstellation,
  about: ContentAbout,
  expiresAt: Instant,
});
/** Why a standing approval is taken back. */
export const ContentRevocation = z.strictObject({ reason: z.string().min(1).max(1_000).optional() });
/** The id is that of the command: said again, it is the same approval. */
export const ApprovedContent = z.strictObject({ approvalId: ContentApprovalId, contentHash: z.string() });
type ApprovedContent = z.infer<typeof ApprovedContent>;

/** Standing approvals of plans: who gave them, and the word of a person for one, or against. */
@Controller('v1/content-approvals')
export class ContentApprovalsController {
  readonly #words: RegistryWords;
  readonly #verbs: RunVerbs;

  constructor(@Inject(RegistryWords) words: RegistryWords, @Inject(RunVerbs) verbs: RunVerbs) {
    this.#words = words;
    this.#verbs = verbs;
  }

  @Get()
  @Needs('registry.content-approvals')
  list(@Req() request: CalledRequest): Promise<QueryAnswer<'registry', 'content-approvals'>> {
    return this.#words.ask(callerOf(request), 'content-approvals', {});
  }

  @Post()
  @Needs('registry.content-approve')
  @HttpCode(200)
  async approve(
    @Req() request: CalledRequest,
    @Headers('idempotency-key') key: string | undefined,
  ): Promise<ApprovedContent> {
    const { constellation, about, expiresAt } = valid(ContentWord, jsonObject(request.body));
    const id = this.#verbs.idOf(key);
    const contentHash = hashCommit(planContent(constellation));
    await this.#words.ask(callerOf(request), 'content-approve', { id, contentHash, about, expiresAt });
    return { approvalId: id, contentHash };
  }

  @Post(':id/revoke')
  @Needs('registry.content-revoke')
  @HttpCode(200)
  async revoke(
    @Req() request: CalledRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Param('id') approval: string,
  ): Promise<{ changed: boolean }> {
    const approvalId = valid(ContentApprovalId, approval);
    const { reason } = valid(ContentRevocation, optionalJsonObject(request.body));
    const order = { id: this.#verbs.idOf(key), approvalId, ...(reason !== undefined && { reason }) };
    return this.#words.ask(callerOf(request), 'content-revoke', order);
  }
}
