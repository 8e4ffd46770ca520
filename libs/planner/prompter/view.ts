import type {
  AgentProfile,
  Budget,
  ConversationItem,
  Demonstration,
  EditTrigger,
  EditViolation,
  Experience,
  Json,
  Prompt,
  RunbookInfo,
} from '#proto';
import type { Run } from '#libs/constellation';

/** What every prompt of the planner needs: the random boundary, new in every call, that fences the text of others. */
interface Fenced {
  readonly fenceBoundary: string;
}

/** What the model is told to make a first plan of. */
export interface CreationView extends Fenced {
  readonly goal: string;
  /** What was said so far, in order, and which words of it nobody has thought about yet. */
  readonly conversation?: readonly ConversationItem[] | undefined;
  readonly triggers?: readonly EditTrigger[] | undefined;
  readonly profiles: readonly AgentProfile[];
  /** Reviewed plans that there are. */
  readonly runbooks?: readonly Pick<RunbookInfo, 'name' | 'description' | 'parameters'>[] | undefined;
  /** Examples of earlier runs, the most similar first. */
  readonly learnt: readonly Experience[];
  /** Why the last plan was not accepted, each a sentence with the path of the field. */
  readonly problems?: readonly string[] | undefined;
  /** The reply that had these problems. */
  readonly tried?: Json | undefined;
  readonly metadata?: Readonly<Record<string, Json>> | undefined;
  readonly budgetLeft?: Budget | undefined;
}

/** What the model is told to change a plan that runs. */
export interface EditingBriefing extends Fenced {
  /** Null for a request that was a constellation. */
  readonly goal: string | null;
  readonly run: Run;
  /** What was said so far, in order. */
  readonly conversation?: readonly ConversationItem[] | undefined;
  readonly triggers: readonly EditTrigger[];
  readonly profiles: readonly AgentProfile[];
  /** Why the last try of this round was refused. */
  readonly violations: readonly EditViolation[];
  /** The reply that was refused. */
  readonly tried?: Json | undefined;
  readonly learnt: readonly Experience[];
  readonly budgetLeft?: Budget | undefined;
}

/** A finished run that is to be made into an example. */
export interface ExperienceView extends Fenced {
  readonly goal: string | null;
  readonly run: Run;
}

/** A finished run that is to be judged. */
export interface EvaluationView extends ExperienceView {
  /** Of the devices as they are now: what cannot be done cannot be done with them. */
  readonly profiles: readonly AgentProfile[];
}

/** What somebody did by hand, to be made into an example. */
export interface DemonstrationView extends Fenced {
  readonly demonstration: Demonstration;
}

/** A prompt, and which of the examples that it was offered it shows. */
export interface PlannerPrompt extends Prompt {
  readonly examples: readonly string[];
}
