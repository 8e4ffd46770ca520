import { Controller, Get, Inject } from '@nestjs/common';
import { z } from 'zod';
import { DeviceId } from '#proto';
import { Needs } from '../http/index.js';
import { ScreenDesk } from './screen-desk.adapter.js';

/** The devices whose screens this console can show; what is on them is asked for one by one. */
export const Screens = z.strictObject({ screens: z.array(DeviceId) });
export type Screens = z.infer<typeof Screens>;

@Controller('v1/screens')
export class ScreensController {
  readonly #desk: ScreenDesk;

  constructor(@Inject(ScreenDesk) desk: ScreenDesk) {
    this.#desk = desk;
  }

  @Get()
  @Needs('registry.devices')
  list(): Screens {
    return { screens: [...this.#desk.deviceIds] };
  }
}
