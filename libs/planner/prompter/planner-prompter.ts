import type { ChatMessage } from '#proto';
import {
  type CountTokens,
  examplesPrompt,
  Fence,
  type PromptExamples,
  type PromptTemplate,
  type PromptTemplates,
  TemplateBook,
} from '#libs/prompter';
import { subtasksOf } from '../moves/index.js';
import { type Telling, toldText } from './bounded.js';
import {
  budgetText,
  judgedTasksText,
  learntText,
  linesText,
  planText,
  PLANNER_TOKENS,
  requestText,
  runbooksText,
  scopeText,
  demonstrationText,
  fencedText,
  triedText,
  triggersPart,
  violationsPart,
} from './parts.js';
import { boardText } from './board-text.js';
import { conversationText } from './conversation-text.js';
import { profilesText } from './profiles-text.js';
import { runSummaryText } from './summary.js';
import { constellationToolsText, planFieldsText } from './tools-text.js';
import type {
  CreationView,
  DemonstrationView,
  EditingBriefing,
  EvaluationView,
  ExperienceView,
  PlannerPrompt,
} from './view.js';

const MODES = ['creation', 'editing', 'evaluation', 'experience', 'demonstration'] as const;
type Mode = (typeof MODES)[number];

/**
 * The prompts of the planner: what a model is told to plan, to change a plan, to judge a run, and to learn from one. Pure: the same
 * view gives the same prompt. Everything that people, devices, models and results say stands in a fence. Every method throws
 * BoundaryTaken when some text contains the boundary: then it is called again with another one.
 */
export class PlannerPrompter {
  readonly #book: TemplateBook;
  readonly #countTokens: CountTokens;
  readonly #fields = planFieldsText();
  readonly #tools = constellationToolsText();

  /** Throws TemplateError when a text that the planner needs is missing or not valid. */
  constructor(prompts: PromptTemplates, countTokens: CountTokens) {
    this.#book = new TemplateBook(prompts);
    this.#countTokens = countTokens;
    for (const mode of MODES) void this.#texts(mode);
  }

  creation(view: CreationView): PlannerPrompt {
    const telling = this.#telling(view.fenceBoundary);
    const learnt = learntText(view.learnt, telling);
    const user = {
      request: telling.fence.around('request', view.goal),
      conversation: conversationText(view, telling),
      metadata: fencedText('metadata of the request', view.metadata, {
        ...telling,
        tokensMax: PLANNER_TOKENS.metadata,
      }),
      devices: profilesText(view.profiles, { ...telling, goal: view.goal, tokens: PLANNER_TOKENS.profiles }),
      runbooks: runbooksText(view.runbooks ?? [], telling),
      learnt: learnt.text,
      problems: linesText('problems', view.problems ?? [], { ...telling, tokensMax: PLANNER_TOKENS.problems }),
      tried: triedText(view.tried, telling),
      budget: budgetText(view.budgetLeft),
    };
    return this.#prompt('creation', { telling, user, examples: learnt.shown });
  }

  editing(view: EditingBriefing): PlannerPrompt {
    const telling = this.#telling(view.fenceBoundary);
    const learnt = learntText(view.learnt, telling);
    const user = {
      request: requestText(view.goal, telling),
      conversation: conversationText(view, telling),
      triggers: triggersPart(view.triggers),
      scope: scopeText(view.run.scope, telling),
      constellation: runSummaryText(view.run, view.triggers, { ...telling, tokens: PLANNER_TOKENS.plan }),
      devices: profilesText(view.profiles, { ...telling, goal: view.goal ?? '', tokens: PLANNER_TOKENS.profiles }),
      board: boardText(view.run, telling),
      learnt: learnt.text,
      violations: violationsPart(view.violations, telling),
      tried: triedText(view.tried, telling),
      budget: budgetText(view.budgetLeft),
    };
    return this.#prompt('editing', { telling, user, examples: learnt.shown });
  }

  evaluation(view: EvaluationView): PlannerPrompt {
    const telling = this.#telling(view.fenceBoundary);
    const { run, profiles, goal } = view;
    const user = {
      ...this.#ended(view, telling, PLANNER_TOKENS.plan),
      subtasks: judgedTasksText(subtasksOf(run)),
      devices: profilesText(profiles, { ...telling, goal: goal ?? '', tokens: PLANNER_TOKENS.profilesOfEnded }),
    };
    return this.#prompt('evaluation', { telling, user });
  }

  experience(view: ExperienceView): PlannerPrompt {
    const telling = this.#telling(view.fenceBoundary);
    const user = { ...this.#ended(view, telling, PLANNER_TOKENS.outcomes), plan: planText(view.run, telling) };
    return this.#prompt('experience', { telling, user });
  }

  demonstration({ demonstration, fenceBoundary }: DemonstrationView): PlannerPrompt {
    const telling = this.#telling(fenceBoundary);
    const { request, name } = demonstration;
    const user = {
      request: telling.fence.around('request', request),
      name: telling.fence.around('name', name),
      steps: demonstrationText(demonstration, telling),
    };
    return this.#prompt('demonstration', { telling, user });
  }

  /** A finished run: what was asked for, what was answered, and what its tasks came to. */
  #ended({ goal, run }: ExperienceView, telling: Telling, tokens: number): Readonly<Record<string, string>> {
    const answer = run.answer?.text ?? '';
    return {
      request: requestText(goal, telling),
      answer:
        answer === '' ? '' : toldText('final answer', answer, { ...telling, tokensMax: PLANNER_TOKENS.answer }).text,
      constellation: runSummaryText(run, [{ kind: 'end-of-plan' }], { ...telling, tokens }),
      outcome: `${run.phase}${run.outcome === null ? '' : `, ${run.outcome}`}`,
    };
  }

  #texts(mode: Mode): { readonly template: PromptTemplate; readonly own: PromptExamples } {
    const template = this.#book.template(`planner/${mode}`, 'nonvisual');
    return { template, own: this.#book.examples(`examples/planner/${mode}`, 'nonvisual') };
  }

  #telling(boundary: string): Telling {
    return { fence: new Fence(boundary), countTokens: this.#countTokens };
  }

  #prompt(mode: Mode, { telling, user, examples = [] }: PromptParts): PlannerPrompt {
    const { template, own } = this.#texts(mode);
    const { boundary } = telling.fence;
    const system = this.#book.render(template, 'system', {
      boundary,
      examples: examplesPrompt(own.examples).trim(),
      task_fields: this.#fields.task,
      dependency_fields: this.#fields.dependency,
      tools: this.#tools,
    });
    const text = this.#book.render(template, 'user', { boundary, ...user });
    const messages: ChatMessage[] = [
      { role: 'system', content: system.trim() },
      { role: 'user', content: text.trim() },
    ];
    const templates = [...this.#book.uses(template), { id: own.id, hash: own.hash }];
    return { messages, templates, examples };
  }
}

interface PromptParts {
  readonly telling: Telling;
  readonly user: Readonly<Record<string, string>>;
  /** Ids of the learnt examples that are shown. */
  readonly examples?: readonly string[];
}
