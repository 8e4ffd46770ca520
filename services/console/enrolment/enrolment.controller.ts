import { Controller, Get, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { QUERIES } from '#proto';
import { callerOf, Needs, optionalJsonObject, RefusedError, valid, type CalledRequest } from '../http/index.js';
import { Questions } from '../questions/index.js';
import { enrolmentOf, EnrolmentWord, type PastedEnrolment, type EnrolmentOffer } from './enrolment.js';
import { DeviceOffers } from './offered.adapter.js';

/** Enrols machines as devices, and says what is to be pasted there. */
@Controller('v1/enrolments')
export class EnrolmentController {
  readonly #questions: Questions;
  readonly #offers: DeviceOffers;

  constructor(@Inject(Questions) questions: Questions, @Inject(DeviceOffers) offers: DeviceOffers) {
    this.#questions = questions;
    this.#offers = offers;
  }

  @Get('offer')
  @Needs('registry.devices')
  async offer(): Promise<EnrolmentOffer> {
    const offer = await this.#offers.newest();
    return { url: this.#offers.url ?? null, release: offer?.release ?? null };
  }

  @Post()
  @Needs('registry.enroll')
  @HttpCode(200)
  async enroll(@Req() request: CalledRequest): Promise<PastedEnrolment> {
    const { url = this.#offers.url, ca, dir, ...said } = valid(EnrolmentWord, optionalJsonObject(request.body));
    // Before anything is enrolled: a token that nobody can use would be one more that lies around.
    if (url === undefined) throw noAddress();
    const asked = { ...said, credential: 'join' } as const;
    const answer = await this.#questions.ask('registry.enroll', asked, callerOf(request));
    const offer = await this.#offers.newest();
    return enrolmentOf(QUERIES.registry.enroll.answer.parse(answer), { url, offer, ca, dir });
  }
}

function noAddress(): RefusedError {
  const message =
    'say under which address devices reach the gateway, such as wss://orrery.example.org/ws; ORRERY_AIP_URL says it for all';
  return new RefusedError({
    code: 'INVALID_REQUEST',
    message: `url: ${message}`,
    issues: [{ path: 'url', message }],
  });
}
