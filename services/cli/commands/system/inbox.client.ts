import { query, type QueryAnswer } from '#libs/messaging';
import { withBus } from '../../bus/index.js';
import { messageOf, type CliContext } from '../../terminal/index.js';

export type Inbox = QueryAnswer<'logging', 'attention'>;

const SHOWN = 3;
/** Who asks how it is does not wait long for a bus that says nothing, unless he wants to. */
const SECONDS_MAX = '3';

/** What needs somebody, as far as it can be seen: what cannot is said, and never taken for nothing. */
export async function newestAttention(context: CliContext): Promise<Inbox> {
  const env = { ORRERY_BUS_TIMEOUT: SECONDS_MAX, ...context.env };
  try {
    return await withBus({ ...context, env }, (nc) => query(nc, 'logging', 'attention', { limit: SHOWN }));
  } catch (error) {
    const nothing = { open: 0, taken: 0 };
    return { ...nothing, matching: nothing, entries: [], unseen: [{ source: 'the inbox', reason: messageOf(error) }] };
  }
}
