const { default: TestRunner } = require('jest-runner');

/** One test file at a time, in one worker, after the files that run side by side. */
module.exports = class AloneRunner extends TestRunner {
  constructor(globalConfig, context) {
    super({ ...globalConfig, maxWorkers: 1 }, context);
  }
};
