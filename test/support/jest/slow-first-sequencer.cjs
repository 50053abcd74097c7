const { default: Sequencer } = require('@jest/test-sequencer');

/** What starts processes or browsers takes longest, whatever the length of its file. */
const SLOW = /[\\/]test[\\/](?:faults|sample|concurrency|console|attacks)[\\/]/;

/** Begins with slow files, so that no worker is left alone with one at the end. */
module.exports = class SlowFirstSequencer extends Sequencer {
  sort(tests) {
    const [slow, others] = [[], []];
    for (const test of super.sort(tests)) (SLOW.test(test.path) ? slow : others).push(test);
    return [...slow, ...others];
  }
};
