// Suites by file name: .spec.ts is pure, .sim.spec.ts runs the orchestrator on a virtual clock, .fuzz.spec.ts gives endpoints
// hostile frames, .int.spec.ts talks to a real nats-server or PostgreSQL, .e2e.spec.ts runs processes.
// By folder: `model` explores small worlds to their end. `containers`, which needs a Docker engine, `load`, which needs an idle
// machine and half an hour, `record`, which makes what later versions are held to, `canary`, which runs 20,000 lines in the place of
// the 200 of `int` and each everyday line behind every wall, `rules`, which asks promtool, `desktop`, which uses real programs on a
// screen, and `deep`, which runs what explores and guesses as far as it goes (libs/testing/deep.ts), run only when they are asked for.
const suites = {
  unit: {
    testMatch: ['**/*.spec.ts'],
    testPathIgnorePatterns: ['/node_modules/', '/dist/', '\\.(sim|fuzz|int|e2e)\\.spec\\.ts$', '/test/model/'],
  },
  model: { testMatch: ['**/test/model/*.spec.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  sim: { testMatch: ['**/*.sim.spec.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  fuzz: { testMatch: ['**/*.fuzz.spec.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  int: { testMatch: ['**/*.int.spec.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  e2e: { testMatch: ['**/*.e2e.spec.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  load: { testMatch: ['**/test/load/*.load.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  record: { testMatch: ['**/test/histories/*.record.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  rules: { testMatch: ['**/test/monitoring/*.rules.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  screenshots: {
    testMatch: ['**/test/screenshots/*.screens.ts'],
    testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  },
  desktop: { testMatch: ['**/test/desktop/*.desktop.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  canary: {
    testMatch: ['**/test/walls/{canary,everyday}.int.spec.ts'],
    testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  },
  containers: { testMatch: ['**/test/containers/*.e2e.ts'], testPathIgnorePatterns: ['/node_modules/', '/dist/'] },
  deep: {
    testMatch: [
      '**/test/model/model-check.spec.ts',
      '**/test/simulation/simulation.sim.spec.ts',
      '**/libs/constellation/{chaos,confluence}.spec.ts',
      '**/test/fuzz/*-{server,client}.fuzz.spec.ts',
    ],
    testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  },
};
// Times for people are in the zone where they are: tests are in this one.
process.env.TZ = 'UTC';
/** One suite, or several that are run as one: `model+sim`. */
const named = (process.env.ORRERY_TEST_SUITE ?? 'unit').split('+');
const timeouts = {
  // A limit for what hangs: what is slow here has a busy machine.
  unit: 120_000,
  model: 300_000,
  sim: 600_000,
  fuzz: 600_000,
  e2e: 300_000,
  canary: 600_000,
  containers: 600_000,
  deep: 1_200_000,
  desktop: 300_000,
  load: 1_200_000,
  record: 1_200_000,
  screenshots: 1_200_000,
};

export default {
  // Suites that run at the same time keep their durations in files of their own.
  id: named.join('-'),
  testMatch: named.flatMap((suite) => suites[suite].testMatch),
  testPathIgnorePatterns: suites[named[0]].testPathIgnorePatterns,
  rootDir: '.',
  roots: ['<rootDir>/proto', '<rootDir>/libs', '<rootDir>/services', '<rootDir>/test'],
  testEnvironment: '<rootDir>/tools/specs/environment.mjs',
  runtime: '<rootDir>/tools/specs/runtime.mjs',
  transform: {},
  setupFiles: ['reflect-metadata'],
  moduleNameMapper: {
    '^#proto$': '<rootDir>/proto/index.ts',
    '^#libs/(.*)$': '<rootDir>/libs/$1/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  testSequencer: '<rootDir>/tools/longest-first.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testTimeout: Math.max(...named.map((suite) => timeouts[suite] ?? 120_000)),
  // What talks to servers waits for much of its time: more have room than there are cores. Each system of e2e costs something while it
  // waits, and suites that calculate fill what is left. What measures has the machine for itself.
  maxWorkers: Math.min(
    ...named.map(
      (suite) => ({ int: 4, e2e: 3, containers: 1, load: 1, record: 1, screenshots: 1, desktop: 1 })[suite] ?? 2,
    ),
  ),
};
