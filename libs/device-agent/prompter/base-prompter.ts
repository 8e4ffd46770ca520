import type { ChatMessage, ContentPart, Prompt } from '#proto';
import {
  type CountTokens,
  examplesPrompt,
  excerpt,
  Fence,
  outputOf,
  type OutputText,
  type PromptMode,
  type PromptTemplate,
  type PromptTemplates,
  retrievedDocumentsPrompt,
  TemplateBook,
} from '#libs/prompter';
import { MemoryPrompt } from './memory-prompt.js';
import { toolsToPrompt } from './tool-prompt.js';
import type { AgentInput } from '../effects/index.js';
import { readInputCall } from './read-input.js';
import type { PromptView } from './view.js';

export interface PrompterOptions {
  readonly templates: PromptTemplates;
  readonly countTokens: CountTokens;
  /** Whether the model sees images. */
  readonly visual: boolean;
  /** Tokens that the memory may fill. */
  readonly memoryTokens: number;
}

/** Tokens for the results of all predecessors together, for the blackboard, and for all documents. */
const INPUT_TOKENS = 12_000;
const BLACKBOARD_TOKENS = 3_000;
const KNOWLEDGE_TOKENS = 4_000;
const PLAN_TOKENS = 2_000;
/** For each text of an observation. */
const OBSERVATION_TOKENS = 8_000;
/** Files of others that are named one by one. */
const FILES_SHOWN_MAX = 50;

/**
 * Makes the prompts of one kind of agent out of a template, by mode: a system message (instructions, format of the reply,
 * examples, tools) and a user message (what there is to know and to do). Custom prompters extend it, or one of its heirs, and
 * override what they want different. Everything that others wrote stands inside a fence.
 */
export abstract class BasePrompter {
  protected readonly mode: PromptMode;
  readonly #book: TemplateBook;
  readonly #memory: MemoryPrompt;

  constructor(protected readonly options: PrompterOptions) {
    this.mode = options.visual ? 'visual' : 'nonvisual';
    this.#book = bookOf(options.templates);
    this.#memory = new MemoryPrompt(options.countTokens, options.memoryTokens);
  }

  /** Ids of the template and of the examples. */
  protected abstract readonly templateId: string;
  protected abstract readonly examplesId: string;

  /**
   * The prompt of one turn. `boundary` is random and new in every call. Throws BoundaryTaken when some text contains it:
   * then the prompt is made again with another one.
   */
  prompt(view: PromptView, boundary: string): Prompt {
    const fence = new Fence(boundary);
    const messages = this.assemble(this.systemPrompt(view, fence), this.userContent(view, fence));
    const { id, mode, hash } = this.#book.examples(this.examplesId, this.mode);
    const examples = { id: mode === 'any' ? id : `${id}.${mode}`, hash };
    return { messages, templates: [...this.#book.uses(this.template()), examples] };
  }

  /** Who the agent is, its rules, how it must reply, examples, and what it may call. */
  protected systemPrompt(view: PromptView, fence: Fence): string {
    return this.render('system', {
      boundary: fence.boundary,
      apis: this.apiPrompt(view, fence),
      examples: this.examplesPrompt(),
      agents: this.agentsPrompt(view, fence),
      instructions: this.instructions(view).join('\n'),
    });
  }

  /** Rules of a custom prompter, which stand behind those of the template. Ours: nothing that others wrote belongs here. */
  protected instructions(_view: PromptView): readonly string[] {
    return [];
  }

  protected apiPrompt({ tools }: PromptView, fence: Fence): string {
    return tools.length === 0 ? '(none)' : toolsToPrompt(tools, (text) => fence.around('tool', text));
  }

  protected examplesPrompt(): string {
    return examplesPrompt(this.#book.examples(this.examplesId, this.mode).examples).trim();
  }

  /** The agents that a part of the task can be given to. */
  protected agentsPrompt({ agents = [] }: PromptView, fence: Fence): string {
    const shown = agents.map(({ name, introduction }) => fence.around('agent', `${name}: ${introduction}`));
    return shown.length === 0 ? '(none)' : shown.join('\n');
  }

  /** What there is to know and to do, as text. */
  protected userPrompt(view: PromptView, fence: Fence): string {
    const { history, last } = this.#memory.render(view.memory, fence);
    return this.render('user', {
      boundary: fence.boundary,
      request: this.requestPrompt(view, fence),
      subtask: view.subtask === undefined ? '' : fence.around('subtask', view.subtask),
      device: fence.around('device', devicePrompt(view)),
      administrator: administratorPrompt(view, this.options.countTokens),
      inputs: this.inputsPrompt(view, fence),
      workspace: this.workspacePrompt(view, fence),
      knowledge: this.knowledgePrompt(view, fence),
      blackboard: this.blackboardPrompt(view, fence),
      history,
      last,
      plan: this.planPrompt(view, fence),
      step: (view.memory.items.at(-1)?.step ?? 0) + 1,
      steps_left: view.stepsLeft,
    });
  }

  /** Text for a model that reads only; text and images for one that sees. */
  protected userContent(view: PromptView, fence: Fence): string | ContentPart[] {
    const observed = (view.observation ?? []).map((part) => this.observedPart(part, fence));
    const text = this.userPrompt(view, fence);
    if (this.options.visual) return [...observed, { type: 'text', text }];
    return [...observed.map((part) => (part.type === 'text' ? part.text : '')), text].join('\n');
  }

  /** Text in a fence, or an image for who sees it. An image that would have to be fetched is none: the message holds all there is. */
  protected observedPart(part: ContentPart, fence: Fence): ContentPart {
    if (part.type === 'text') {
      return {
        type: 'text',
        text: this.data(part.text, { fence, label: 'observation', tokensMax: OBSERVATION_TOKENS }),
      };
    }
    if (!this.options.visual) return leftOut('this model does not see images');
    // One that would have to be fetched by somebody else is none; a picture of ARTIFACTS is put in when the model is asked.
    const isHere = part.type === 'image' || part.image_url.url.startsWith('data:image/');
    return isHere ? part : leftOut('it is not in the message');
  }

  protected assemble(system: string, user: ChatMessage['content']): ChatMessage[] {
    return [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ];
  }

  protected requestPrompt({ task: { name, description, tips } }: PromptView, fence: Fence): string {
    const tipLines = tips.length === 0 ? '' : `\nTips:\n${tips.map((tip) => `- ${tip}`).join('\n')}`;
    return fence.around('request', `${name}\n${description}${tipLines}`);
  }

  /** Results of predecessors, as they were; when they are too long together, each gets its share. */
  protected inputsPrompt({ task: { inputs } }: PromptView, fence: Fence): string {
    const share = Math.floor(INPUT_TOKENS / Math.max(1, inputs.length));
    const shown = inputs.map((input) => {
      const { exitCode, streams } = outputOf({ value: input.value, cut: [...(input.cut ?? [])] });
      const tokensMax = Math.floor(share / Math.max(1, streams.length));
      const texts = streams.map((output) => this.inputText(input, output, { fence, tokensMax }));
      const ending = exitCode === null ? [] : [`[Exit code ${exitCode}]`];
      return [...ending, ...(texts.length === 0 ? ['[No output]'] : texts)].join('\n');
    });
    return retrievedDocumentsPrompt('', 'Input', shown).trim();
  }

  /** Where the files of the run lie, which others have left for the task, and which it has to leave. */
  protected workspacePrompt({ task: { workspace } }: PromptView, fence: Fence): string {
    if (workspace === undefined) return '';
    const { brought, leaves } = workspace;
    const lines = brought.slice(0, FILES_SHOWN_MAX).map(({ path, bytes }) => `${path}: ${bytes} bytes`);
    const more = brought.length - lines.length;
    const there = ['These lie there for you, from the tasks before this one:', fence.around('files', lines.join('\n'))];
    const expected = [
      'The task is done when there is a file for each of these, a path or a pattern; for one that ends in ? there may be none:',
      fence.around('files to leave', leaves.join('\n')),
    ];
    return [
      'Commands begin in a directory that the run has on this device, also named by $ORRERY_WORKSPACE. Name its files by relative paths, such as ./report.csv.',
      ...(lines.length > 0 ? there : []),
      ...(more > 0 ? [`[${more} more files are left out here]`] : []),
      ...(leaves.length > 0 ? expected : []),
    ].join('\n');
  }

  /** One text of a result: whole, or its beginning and its end, with how long it is and the call that reads on. */
  protected inputText(input: AgentInput, output: OutputText, { fence, tokensMax }: Omit<DataOptions, 'label'>): string {
    const { stream } = output;
    const { taskId: task, field = stream === 'stderr' ? stream : undefined } = input;
    const label = input.field === undefined ? `${stream} of task ${task}` : `${input.field} of task ${task}`;
    const { head, tail, omitted } = excerpt(output, tokensMax, this.options.countTokens);
    const bytes = keptElsewhere(input, stream);
    const size = bytes === null ? '' : `; it has ${bytes} bytes`;
    const more = (fromLine: number): string => `To read on: ${readInputCall({ task, field, fromLine })}`;
    if (omitted === null && bytes === null) return fence.around(label, head);
    if (omitted === null) return [fence.around(label, head), `[That is a part${size}. ${more(1)}]`].join('\n');
    return [
      fence.around(`${label}, beginning`, head),
      `[${omitted.chars} characters are left out here${size}. ${more(omitted.fromLine)}]`,
      fence.around(`${label}, end`, tail),
    ].join('\n');
  }

  protected knowledgePrompt({ knowledge = [] }: PromptView, fence: Fence): string {
    const share = Math.floor(KNOWLEDGE_TOKENS / Math.max(1, knowledge.length));
    const shown = knowledge.map((text) => this.data(text, { fence, label: 'document', tokensMax: share }));
    return retrievedDocumentsPrompt('', 'Document', shown).trim();
  }

  /** What other agents noted, the newest last. What the agent noted itself stands in its memory. */
  protected blackboardPrompt({ blackboard, memory }: PromptView, fence: Fence): string {
    const own = new Set(memory.items.flatMap(({ notes }) => notes));
    const others = blackboard.entries.filter(({ taskId, text }) => taskId !== undefined || !own.has(text));
    if (others.length === 0) return '';
    const lines = others.map(({ agent, taskId, text }) => JSON.stringify({ agent, task: taskId, note: text }));
    return this.data(lines.join('\n'), { fence, label: 'blackboard', tokensMax: BLACKBOARD_TOKENS });
  }

  /** What the agent meant to do next, in its own words. */
  protected planPrompt({ plan }: PromptView, fence: Fence): string {
    if (plan.length === 0) return '';
    const text = plan.map((entry, index) => `${index + 1}. ${entry}`).join('\n');
    return this.data(text, { fence, label: 'plan', tokensMax: PLAN_TOKENS });
  }

  /** Renders a part of this prompter's template. */
  protected render(part: string, values: Readonly<Record<string, unknown>>): string {
    return this.#book.render(this.template(), part, values).trim();
  }

  protected template(): PromptTemplate {
    return this.#book.template(this.templateId, this.mode);
  }

  /**
   * A text of somebody else, in a fence. When it takes more than `tokensMax` tokens, its beginning and its end, each in its own
   * fence, with a line of ours between them.
   */
  protected data(text: string, { fence, label, tokensMax }: DataOptions): string {
    const whole = { head: text, tail: '', gapChars: 0 };
    const { head, tail, omitted } = excerpt(whole, tokensMax, this.options.countTokens);
    if (omitted === null) return fence.around(label, head);
    return [
      fence.around(`${label}, beginning`, head),
      `[${omitted.chars} characters are left out here]`,
      fence.around(`${label}, end`, tail),
    ].join('\n');
  }
}

export interface DataOptions {
  readonly fence: Fence;
  /** What the text is, in our words. */
  readonly label: string;
  readonly tokensMax: number;
}

/** Bytes of an output that its device has stored because the result does not hold it; null when it does. */
function keptElsewhere({ value }: AgentInput, stream: OutputText['stream']): number | null {
  if (stream === 'result' || value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const { [`${stream}_artifact`]: artifact, [`${stream}_bytes`]: bytes } = value;
  return artifact !== undefined && typeof bytes === 'number' ? bytes : null;
}

function devicePrompt({ task: { device } }: PromptView): string {
  const { deviceId, hostname, os, arch } = device;
  return JSON.stringify({ device: deviceId, hostname, os, arch });
}

const ADMINISTRATOR_TOKENS = 600;

/** What the administrator says of the device, a person's word, one name a line as far as there is room. */
function administratorPrompt({ task: { device } }: PromptView, countTokens: CountTokens): string {
  const lines: string[] = [];
  let left = ADMINISTRATOR_TOKENS;
  const { given = [] } = device;
  for (const [name, value] of given) {
    const line = JSON.stringify({ [name]: value });
    left -= countTokens(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const omitted = given.length - lines.length;
  return [...lines, ...(omitted > 0 ? [`[${omitted} more names are left out]`] : [])].join('\n');
}

const leftOut = (why: string): ContentPart => ({ type: 'text', text: `[An image is left out here: ${why}]` });

/** Templates are parsed once, however many agents use them. */
function bookOf(templates: PromptTemplates): TemplateBook {
  const known = BOOKS.get(templates) ?? new TemplateBook(templates);
  BOOKS.set(templates, known);
  return known;
}

const BOOKS = new WeakMap<PromptTemplates, TemplateBook>();
