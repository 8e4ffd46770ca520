import { CONFIGURATIONS } from './configurations.js';
import { explore } from './explore.js';

const [pattern = ''] = process.argv.slice(2);
for (const configuration of CONFIGURATIONS.filter(({ name }) => name.includes(pattern))) {
  const before = performance.now();
  const { states, transitions, depth, ends, violation } = explore(configuration);
  const seconds = (performance.now() - before) / 1000;
  console.log(configuration.name, { states, transitions, depth, ends, seconds });
  if (violation !== null) {
    console.log(violation.name, violation.message);
    console.log(violation.trace.join('\n'));
    process.exitCode = 1;
  }
}
