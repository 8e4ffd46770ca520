import { describe, expect, it } from '@jest/globals';
import { type Json, LIMITS } from '#proto';
import { checkCondition, evaluateCondition, isPlain, readsWhole } from './condition.js';
import { instructionsOf } from './condition-pattern.js';

const result = { exit_code: 0, stdout: 'ok\n', load: 0.25, list: [1, 2, 3] };
const over = (condition: string, value: Json, status: 'COMPLETED' | 'FAILED' = 'COMPLETED') =>
  evaluateCondition(condition, { status, result: value });

describe('a condition', () => {
  it.each([
    ['result.exit_code == 0', 'satisfied'],
    ['result.exit_code + 1 == 1', 'satisfied'],
    ['result.load < 0.5 && status == "COMPLETED"', 'satisfied'],
    ['result.list.exists(x, x > 2)', 'satisfied'],
    ['result.stdout.contains("ok")', 'satisfied'],
    ['status == "FAILED"', 'unsatisfied'],
    ['result.list.size() > 5', 'unsatisfied'],
  ])('%s is %s', (condition, truth) => {
    expect(checkCondition(condition)).toBeUndefined();
    expect(over(condition, result).truth).toBe(truth);
  });

  it.each([
    ['result ==', 'is not valid CEL'],
    ['nobody == 1', 'Unknown variable: nobody'],
    ['"text" + status', 'must be true or false'],
    ['result.list.all(x, result.list.exists(y, y == x))', 'comprehension'],
    ['cel.bind(a, result + result, cel.bind(b, a + a, b == ""))', 'cel.bind inside another'],
    ['bytes(result).hex() == ""', 'uses hex'],
    ['result._re2("a")', 'uses _re2'],
    [`status == "${'x'.repeat(500)}"`, 'longer than 500 characters'],
    ['(((((((((((((((((((((((((((((((((((((true)))))))))))))))))))))))))))))))))))))', 'not valid CEL'],
  ])('%s is refused with a sentence', (condition, sentence) => {
    expect(checkCondition(condition)).toContain(sentence);
    expect(over(condition, result)).toMatchObject({ truth: 'undecided' });
  });

  it.each<[string, Json, string]>([
    ['result.missing == 1', {}, 'No such key: missing'],
    ['result.a.b.c', null, 'No such key: a'],
    ['result.exit_code', { exit_code: 0 }, 'neither true nor false'],
    ['result.constructor == 1', {}, 'constructor'],
    ['result.__proto__ == 1', {}, '__proto__'],
    ['int(result) > 200', '16627\n', 'trim() takes line ends off'],
    ['result.json().ok', 'no json', 'no JSON'],
    ['result.text > 5', { text: 'five' }, '> int'],
  ])('%s over %j cannot be judged, which is not a no, and says why', (condition, value, reason) => {
    const truth = over(condition, value);
    expect(truth).toMatchObject({ truth: 'undecided', reason: expect.stringContaining(reason) });
  });

  it('is decided all the same when what fails does not matter', () => {
    expect(over('status == "FAILED" || result.exit_code > 0', null, 'FAILED').truth).toBe('satisfied');
    expect(over('status == "FAILED" && result.exit_code > 0', null).truth).toBe('unsatisfied');
  });
});

describe('a text in a condition', () => {
  it.each<[string, Json, string]>([
    ['int(result.trim()) > 200', '16627\n', 'satisfied'],
    ['result.lines().size() == 2', 'a\r\nb\n', 'satisfied'],
    ['result.lines()[0] == "a"', 'a\r\nb\n', 'satisfied'],
    ['result.lines().exists(line, line == "b")', 'a\nb', 'satisfied'],
    ['result.lines().size() == 0', '', 'satisfied'],
    ['result.json().free > 10', '{"free": 11}', 'satisfied'],
    ['result.json()[1].name == "b"', '[{"name": "a"}, {"name": "b"}]', 'satisfied'],
    ['result.matches("^ok [0-9]+$")', 'ok 12', 'satisfied'],
    ['result.matches("(?m)^b+$")', 'a\nbbb\nc', 'satisfied'],
    ['result.lines().all(line, line.matches("^[a-z]+$"))', 'ab\ncd\n', 'satisfied'],
    ['result.matches("(a+)+$")', `${'a'.repeat(50_000)}!`, 'unsatisfied'],
    ['result.split(",").size() == 3', 'a,b,c', 'satisfied'],
  ])('%s over %j is %s', (condition, value, truth) => {
    expect(checkCondition(condition)).toBeUndefined();
    expect(over(condition, value).truth).toBe(truth);
  });

  it.each([
    ['result.matches("(")', 'no regular expression of RE2'],
    ['result.matches("a(?=b)")', 'no regular expression of RE2'],
    ['result.matches("(.)\\\\1")', 'no regular expression of RE2'],
    ['result.matches(result)', 'text in quotes'],
    [`result.matches("${'.'.repeat(LIMITS.patternCharsMax + 1)}")`, 'longer than 250 characters'],
    ['result.matches("((.{1,30}){30})")', 'the pattern repeats too much'],
    [`result.matches("${'.{200}'.repeat(6)}")`, 'the pattern repeats too much'],
    ['result.matches("a{2000}")', 'the pattern repeats too much'],
  ])('%s is refused', (condition, sentence) => {
    expect(checkCondition(condition)).toContain(sentence);
  });

  it.each([
    ['abc', 3],
    ['[a-z]{10}', 10],
    ['(ab){10}', 40],
    ['\\d{3}\\.\\d{3}', 7],
    ['((a{10}){10}){10}', 1_200],
  ])('%s is reckoned to be %i instructions', (source, count) =>
    expect(instructionsOf(source)).toBeGreaterThanOrEqual(count),
  );

  it('makes lists of a million items at most', () => {
    const many = '\n'.repeat(LIMITS.conditionItemsMax + 2);
    expect(over('result.lines().size() > 1', many)).toMatchObject({ reason: 'there are more than 1000000 parts' });
    expect(over('result.split("").size() > 1', many)).toMatchObject({ reason: 'there are more than 1000000 parts' });
    expect(over('result.json().size() > 1', `[${'1,'.repeat(LIMITS.conditionItemsMax)}1]`)).toMatchObject({
      reason: 'there are more than 1000000 values',
    });
  });
});

describe('what types show', () => {
  it.each([
    ['result.exit_cod == 0', 'EXEC_CLI', 'asks for result.exit_cod, which EXEC_CLI does not answer; valid are stdout,'],
    ['result["exit_cod"] == 0', 'EXEC_CLI', 'asks for result.exit_cod'],
    ['has(result.output)', 'EXEC_CLI', 'asks for result.output'],
    ['result.stdout.lines().exists(l, result.nothing == l)', 'EXEC_CLI', 'asks for result.nothing'],
    ['result.exit_code == "0"', 'EXEC_CLI', 'does not fit what EXEC_CLI answers: no such overload: int == string'],
    ['result.stdout > 5', 'EXEC_CLI', 'does not fit'],
    [
      'result.memory.free > 1',
      'SYS_INFO',
      'asks for result.memory, which SYS_INFO does not answer; valid are info_type',
    ],
    ['status == "SUCCESS"', undefined, 'compares status with "SUCCESS", which is no end; valid are COMPLETED, FAILED'],
    ['"DONE" != status', 'anything', 'compares status with "DONE"'],
    ['status in ["COMPLETED", "RUNNING"]', undefined, 'compares status with "RUNNING"'],
  ])('refuses %s of %s', (condition, tool, sentence) => {
    expect(checkCondition(condition, tool)).toContain(sentence);
  });

  it.each([
    ['result.exit_cod == 0', undefined],
    ['result.exit_cod == 0', 'SOME_TOOL'],
    ['result == null || result.exit_code != 0', 'EXEC_CLI'],
    ['result != null && has(result.stdout_artifact)', 'EXEC_CLI'],
    ['result.execution_time > 5', 'EXEC_CLI'],
    ['result.exit_code > 1.5', 'EXEC_CLI'],
    ['"stdout" in result', 'EXEC_CLI'],
    ['result.stdout.lines().exists(result, result.size() > 3)', 'EXEC_CLI'],
    ['result.data.available_bytes > 1', 'SYS_INFO'],
    ['status in ["FAILED", "SKIPPED"]', 'EXEC_CLI'],
  ])('takes %s of %s', (condition, tool) => expect(checkCondition(condition, tool)).toBeUndefined());
});

describe('what a condition reads', () => {
  it.each([
    ['result.exit_code == 0', ['stdout'], true],
    ['status == "FAILED"', [''], true],
    ['result.stdout.contains("x")', ['stdout'], false],
    ['result.stdout.contains("x")', ['stderr'], true],
    ['size(result) > 1', ['stdout'], false],
    ['result == null', ['stdout'], false],
    ['result["stdout"] == ""', ['stdout'], false],
    ['result.list[0].name == "x"', ['list[1].name'], true],
    ['result.list[result.stdout.size()] == "x"', ['stdout'], false],
    ['result.list[result.exit_code] == "x"', ['list[7]'], false],
    ['result.stdoutx == ""', ['stdout'], true],
    ['result.exit_code == 0', [''], false],
  ])('%s with %j cut: whole is %s', (condition, cut, whole) => expect(readsWhole(condition, cut)).toBe(whole));

  it.each([
    ['result.stdout.trim().contains("a") && int(result.x) > 2', true],
    ['result.list.exists(x, x > 2)', false],
    ['result.matches("a")', false],
    ['result.lines().size() > 1', false],
    ['cel.bind(x, result, x == 1)', false],
  ])('%s is judged on the spot: %s', (condition, plain) => expect(isPlain(condition)).toBe(plain));

  it('is not the part of an output that a device kept', () => {
    const kept = { exit_code: 0, stdout: 'a [... cut ...] b', stderr: '', stdout_bytes: 5_000_000, stderr_bytes: 0 };
    expect(over('result.stdout.contains("x")', kept)).toMatchObject({ reason: 'only a part of stdout is there' });
    expect(over('result.exit_code == 0', kept).truth).toBe('satisfied');
    expect(over('result.stdout.contains("b")', { ...kept, stdout_bytes: 20 }).truth).toBe('satisfied');
  });
});
