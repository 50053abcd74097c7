const { default: Sequencer } = require('@jest/test-sequencer');

/** What starts processes or browsers, or waits for a failover, takes longest, whatever the length of its file. */
const SLOW = /[\\/]test[\\/](?:faults|sample|concurrency|console|attacks)[\\/]|sentinel|lost-redis|many-sessions/;

/** Begins with slow files, so that no worker is left alone with one at the end. */
module.exports = class SlowFirstSequencer extends Sequencer {
  sort(tests) {
    const [slow, others] = [[], []];
    for (const test of super.sort(tests)) (SLOW.test(test.path) ? slow : others).push(test);
    return [...slow, ...others];
  }
};
