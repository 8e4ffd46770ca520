// The device-agent service in a process of its own with a model that answers at once, or after a while: what is left of a step
// besides the model. Told by its parent which server, which model; says when it serves and, when asked, what it measured.
import type { Json } from '#proto';
import { ScriptedChatModel, type ChatModel } from '#libs/llm';
import { connectBus } from '#libs/messaging';
import { startReplica } from '#libs/testing';
import { AGENT_KIT, loadAgentKit } from '../../services/device-agent/agents/kit.adapter.js';
import { DeviceAgentConfig } from '../../services/device-agent/device-agent.config.js';
import { DEVICE_AGENT_CONFIG, DeviceAgentModule } from '../../services/device-agent/device-agent.module.js';

interface Order {
  readonly url: string;
  readonly seedFile: string;
  readonly steps: number;
  readonly modelMs: number;
}

/** Milliseconds between a reply of the model and the next question of the same attempt. */
const gapsMs: number[] = [];

/** Another one in each step: who repeats itself is stopped. */
const action = (step: number): Json => ({
  function: 'EXEC_CLI',
  arguments: { command: `df -h /srv/${step}` },
  status: 'CONTINUE',
});
const said = {
  observation: 'as expected',
  thought: 'look at the disks',
  plan: ['look on'],
  comment: 'fine',
  notes: [],
};
const goOn = (step: number): Json => ({ ...said, result: '', action: action(step) });
const finish = { ...said, result: 'nothing is full', action: { function: '', arguments: {}, status: 'FINISH' } };

function measured({ steps, modelMs }: Order): ChatModel {
  const repliedAt = new Map<string, number>();
  const stepOf = (turn: string): number => Number(turn.split('.').at(-1));
  const model = new ScriptedChatModel(async ({ turn }) => {
    if (modelMs > 0) await new Promise((resolve) => void setTimeout(resolve, modelMs));
    return { json: stepOf(turn) < steps ? goOn(stepOf(turn)) : finish };
  });
  return {
    ask: async (request) => {
      const attempt = request.turn.split('.').slice(0, -1).join('.');
      const before = repliedAt.get(attempt);
      if (before !== undefined) gapsMs.push(performance.now() - before);
      const answers = await model.ask(request);
      model.requests.length = 0;
      repliedAt.set(attempt, performance.now());
      return answers;
    },
  };
}

async function serve(order: Order): Promise<void> {
  const { url, seedFile } = order;
  const nc = await connectBus({ url, name: 'device-agent', inboxPrefix: '_INBOX_device-agent', seedFile });
  const config = DeviceAgentConfig.parse({});
  const kit = await loadAgentKit(config, { ORRERY_MODEL: 'scripted', OPENAI_BASE_URL: 'http://127.0.0.1:9' });
  await startReplica(DeviceAgentModule, {
    service: 'device-agent',
    nc,
    instance: 'bench',
    providers: [
      { provide: DEVICE_AGENT_CONFIG, useValue: config },
      { provide: AGENT_KIT, useValue: { ...kit, model: measured(order) } },
    ],
  });
  process.on('message', () => process.send?.(gapsMs.splice(0)));
  process.send?.('ready');
}

process.once('message', (order: Order) => void serve(order));
process.on('disconnect', () => process.exit(0));
