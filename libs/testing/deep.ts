/**
 * What explores, and what guesses, takes minutes of a processor to go as far as it can. The default suites go as far as finds every bug that is
 * planted; `./orrery test deep` goes all the way.
 */
export const IS_DEEP = process.env['ORRERY_TEST_SUITE'] === 'deep';
