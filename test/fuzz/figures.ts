import type { CampaignResult } from './campaign.js';
import type { Target } from './subject.js';

/** What a campaign found, as numbers for a program to judge. */
export type Figures = ReturnType<typeof figuresOf>;

export const figuresOf = ({ name, stages }: Target, { tally, ...result }: CampaignResult) => ({
  target: name,
  stages,
  ...result,
  frames: tally.frames,
  structuredShare: tally.structuredShare,
  messageShare: tally.messageShare,
  framesByState: tally.framesByState,
});
