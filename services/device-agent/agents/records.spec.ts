import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { linuxAgent, testing } from '#libs/device-agent';
import { Metrics } from '#libs/platform';
import { agentRecords } from './records.adapter.js';

const { cli, drive, finish, sampleTask, say, scripted, SpyPrompter } = testing;

it('what agents do is counted, timed and logged, and changes nothing of it', async () => {
  const metrics = new Metrics('test');
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const script = { replies: [say({ run: 'df -h' }), finish('there is room')], calls: [cli('50 %')] };
  const watched = linuxAgent({ prompter: new SpyPrompter(), middleware: agentRecords(logger, metrics) });
  const alone = linuxAgent({ prompter: new SpyPrompter() });
  const end = drive(watched, sampleTask(), scripted(script)).end;
  expect(end).toEqual(drive(alone, sampleTask(), scripted(script)).end);
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/orrery_agent_rounds_total\{agent="LinuxAgent",outcome="done",service="test"\} 2/u);
  expect(text).toMatch(/orrery_agent_phase_seconds_count\{.*phase="LLM_INTERACTION".*\} 2/u);
  expect(lines.some((line) => line.includes('"what":"begun"'))).toBe(true);
});
