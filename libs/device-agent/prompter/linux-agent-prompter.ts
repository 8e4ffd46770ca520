import { AppAgentPrompter } from './app-agent-prompter.js';
import type { Fence } from '#libs/prompter';
import { READ_OUTPUT_TOOL } from './read-output.js';
import type { PromptView } from './view.js';

/** Prompts of an agent that works on a Linux machine with single commands. */
export class LinuxAgentPrompter extends AppAgentPrompter {
  protected override readonly templateId: string = 'device-agent/linux-agent';
  protected override readonly examplesId: string = 'examples/linux-agent';

  /** The tools of the device, and reading on in outputs, which the agent does by itself. */
  protected override apiPrompt(view: PromptView, fence: Fence): string {
    const isThere = view.tools.some(({ name }) => name === READ_OUTPUT_TOOL.name);
    return super.apiPrompt(isThere ? view : { ...view, tools: [...view.tools, READ_OUTPUT_TOOL] }, fence);
  }
}
