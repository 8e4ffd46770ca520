import { useState, type ReactElement } from 'react';
import type { z } from 'zod';
import { wallText } from '#libs/constellation';
import { ExplainedAnswer } from '#proto';
import { Facts, Foreign, Problem, TextField, useForm } from '../../parts/index.js';
import { postJson, useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';

/** What the policy that counts here says of a command: class, rule and decision, the wall it would get, and which policy that is. */
export function PolicySection(): ReactElement {
  const [command, setCommand] = useState('');
  const [device, setDevice] = useState('');
  const [answer, setAnswer] = useState<z.infer<typeof ExplainedAnswer>>();
  const { rows } = useRows('fleet');
  const form = useForm(async (key) => {
    setAnswer(undefined);
    const body = {
      command: { tool: 'EXEC_CLI', arguments: { command } },
      ...(device.trim() !== '' && { deviceId: device.trim() }),
    };
    setAnswer(ExplainedAnswer.parse(await postJson('/v1/policy/explain', body, key)));
  });
  return (
    <section aria-labelledby="policy" className="stack">
      <div>
        <h2 id="policy">{words.policy.title}</h2>
        <p className="faint">{words.policy.about}</p>
      </div>
      <form className="row wrap bottom" onSubmit={form.submit}>
        <TextField
          label={words.policy.command}
          value={command}
          onChange={(text) => form.changed(() => setCommand(text))}
          required
        />
        <TextField
          label={words.policy.device}
          value={device}
          known={rows.map(({ deviceId }) => deviceId)}
          onChange={(text) => form.changed(() => setDevice(text))}
        />
        <button type="submit" className="button primary" disabled={form.busy}>
          {words.policy.ask}
        </button>
      </form>
      {form.problem === undefined ? null : <Problem text={form.problem} />}
      {answer === undefined ? null : (
        <div role="status">
          <Facts
            of={[
              [words.policy.decision, <strong>{answer.verdict.decision}</strong>],
              [words.policy.class, answer.verdict.class],
              [words.policy.rule, <Foreign text={answer.verdict.rule} />],
              [words.policy.reasons, <Foreign text={answer.verdict.reasons.join('; ')} />],
              [words.policy.wall, answer.wall === undefined ? null : <Foreign text={wallText(answer.wall)} />],
              [words.policy.hash, <code>{answer.policyHash}</code>],
            ]}
          />
        </div>
      )}
    </section>
  );
}
