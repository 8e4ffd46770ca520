import { commandIdOf, type Ask, type AttemptEvent, type AttemptFinished, type RunCommit } from '#proto';
import { verifyChain } from '#libs/event-log';
import { ScriptedChatModel, type Script, type Scripted } from '#libs/llm';
import { keyOf, messageOf, TestAgent, World, type AgentOptions } from './agent.js';
import { outcomeOf, ScriptedDevice } from './device.js';
import { execCli, NOW, TestRun, type TaskLike } from './run.js';

export const commandAt = (step: number, index = 0): string => commandIdOf(keyOf('a'), step, index);

type Facts<T extends AttemptEvent['type']> = Extract<AttemptEvent, { type: T }>['data'][];

/** One task `a` for the agent of a device, with a scripted model and a scripted device, for tests. */
export class AgentWorld {
  readonly device = new ScriptedDevice();
  readonly world = new World(this.device);
  readonly model: ScriptedChatModel;
  readonly run: TestRun;
  readonly commit: RunCommit;

  constructor(script: readonly Scripted[] | Script, task: Partial<TaskLike> = {}, others: readonly TaskLike[] = []) {
    this.model = new ScriptedChatModel(script, { now: () => NOW, tokens: { prompt: 100, completion: 10 } });
    const like: TaskLike = { id: 'a', agent: true, ...task };
    this.run = new TestRun([like, ...others]);
    this.commit = this.run.start(like);
    this.device.respond = ({ command }) => {
      const { command: line } = command.arguments;
      return outcomeOf('COMPLETED', execCli(`${typeof line === 'string' ? line : ''}\n`, line === 'false' ? 1 : 0));
    };
  }

  agent(options: AgentOptions = {}): TestAgent {
    return new TestAgent(this.world, { model: this.model, ...options });
  }

  /** Writes the run down and carries the attempt out, by one process. */
  async carryOut(options: AgentOptions = {}, deliveries = 1): Promise<unknown> {
    await this.world.record(this.run);
    return this.agent(options).starts.handle(messageOf(this.commit, deliveries));
  }

  /** What a person is asked, as soon as it is recorded. */
  async asked(): Promise<Ask> {
    for (let known = 0; ;) {
      const end = await this.world.attempts.endsAt(keyOf('a'));
      const [ask] = end === known ? [] : await this.facts('ATTEMPT_ASKED');
      if (ask !== undefined) return ask;
      known = end;
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }

  types(): Promise<string[][]> {
    return this.world.types('a');
  }

  async facts<T extends AttemptEvent['type']>(type: T): Promise<Facts<T>> {
    const events = (await this.world.attempt('a')).flatMap(({ commit }) => commit.events as readonly AttemptEvent[]);
    return events.filter((event) => event.type === type).map(({ data }) => data) as Facts<T>;
  }

  async end(): Promise<AttemptFinished> {
    const [end, ...more] = await this.facts('ATTEMPT_FINISHED');
    if (end === undefined || more.length > 0) throw new Error(`${more.length} more ends`);
    return end;
  }

  async violations(): Promise<unknown[]> {
    return verifyChain((await this.world.attempt('a')).map(({ commit }) => commit));
  }
}
