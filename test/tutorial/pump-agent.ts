import { z } from 'zod';
import { Json, Note } from '#proto';
import {
  actionExecution,
  AgentFailure,
  AppAgentPrompter,
  askPerson,
  callTool,
  continueState,
  failState,
  finishState,
  llmInteraction,
  memoryUpdate,
  noEffects,
  passingState,
  Processor,
  singleAgent,
  StateRegistry,
  strategyOf,
  agentToolsOf,
  type AgentKind,
  type PrompterOptions,
  type RoundValues,
} from '#libs/device-agent';

/** What the model answers. HOLD is a state that this agent has beside the usual ones. */
const PumpReply = z.strictObject({
  observation: z.string().default(''),
  thought: z.string(),
  plan: z.array(z.string()).default([]),
  comment: z.string().default(''),
  notes: z.array(Note).default([]),
  result: z.string().default(''),
  action: z.strictObject({
    function: z.string().default(''),
    arguments: z.record(z.string(), Json).default({}),
    status: z.enum(['CONTINUE', 'HOLD', 'FINISH', 'FAIL']),
  }),
});

/** What a round leaves behind for the states: with HOLD, what the operator is asked. */
type Shared = { question: string };
type Values = RoundValues<z.infer<typeof PumpReply>> & Shared;

/** Strategy of DATA_COLLECTION: every turn begins with a look at the water. */
const readLevel = strategyOf<Values, Shared>()({
  name: 'read-level',
  dependsOn: [],
  provides: ['observation'],
  *execute() {
    const { ended } = yield* callTool({ tool: 'READ_LEVEL', arguments: {} });
    const level = ended.kind === 'finished' ? ended.result : null;
    if (level === null)
      throw new AgentFailure({ code: 'NO_LEVEL', message: `no level: ${ended.message ?? 'no answer'}` });
    return { observation: [{ type: 'text', text: `level: ${JSON.stringify(level.value)}` }] };
  },
});

/** Strategy of ACTION_EXECUTION that does nothing outside. */
const question = strategyOf<Values, Shared>()({
  name: 'question',
  dependsOn: ['turn'],
  provides: ['question'],
  execute: (_, { turn }) => noEffects({ question: turn.reply.comment }),
});

/** State: the operator is asked, and what he says is there in the next turn. */
const hold = passingState<Shared>('HOLD', function* (_, context) {
  const { text, note } = yield* askPerson(context.get('question') ?? 'May I go on?');
  context.note('operator', text ?? note);
});

class PumpPrompter extends AppAgentPrompter {
  protected override instructions(): string[] {
    return ['- Use HOLD before you run the pump; `comment` is what the operator is asked.'];
  }
}

export function pumpAgent(options: PrompterOptions): AgentKind {
  const processor = new Processor<Values, Shared>({
    name: 'PumpProcessor',
    inputs: { tools: (_, { task }) => agentToolsOf(task) },
    phases: {
      DATA_COLLECTION: { strategies: [readLevel], failFast: true },
      LLM_INTERACTION: { strategies: [llmInteraction({ schema: PumpReply })], failFast: true },
      ACTION_EXECUTION: { strategies: [actionExecution(), question], failFast: false },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    finalise: ['question'],
  });
  const states = new StateRegistry<Shared>('PumpAgent', [continueState(processor), hold, finishState(), failState()]);
  return singleAgent({ name: 'PumpAgent', states, prompter: new PumpPrompter(options) });
}
