// What `@jest/globals` is to the helpers that specs share. A helper is loaded once and serves many spec files, each of which has its
// own `describe`: so these stand for those of the file that is being loaded or run.
/** With the address of that file as `url`. */
export let current;

export function setCurrent(globals) {
  current = globals;
}

function standIn(name) {
  return new Proxy(() => undefined, {
    apply: (_, self, args) => Reflect.apply(current[name], self, args),
    get: (_, key) => current[name][key],
  });
}

export const afterAll = standIn('afterAll');
export const afterEach = standIn('afterEach');
export const beforeAll = standIn('beforeAll');
export const beforeEach = standIn('beforeEach');
export const describe = standIn('describe');
export const expect = standIn('expect');
export const it = standIn('it');
export const test = standIn('test');
export const jest = standIn('jest');
