const { default: Sequencer } = require('@jest/test-sequencer');

/** Files that start processes or browsers, or wait for a failover, are slowest, whatever their size. */
const SLOW =
  /[\\/]test[\\/](?:faults|sample|concurrency|console|attacks)[\\/]|sentinel|lost-redis|many-|failover|interleavings|packed|code-blocks/;

/** Starts with slow files, so that no worker runs a slow file alone at the end. */
module.exports = class SlowFirstSequencer extends Sequencer {
  sort(tests) {
    const [slow, others] = [[], []];
    for (const test of super.sort(tests)) (SLOW.test(test.path) ? slow : others).push(test);
    return [...slow, ...others];
  }
};
