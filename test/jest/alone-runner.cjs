const { default: TestRunner } = require('jest-runner');

/** Runs one test file at a time in one worker, after the files that run concurrently. */
module.exports = class AloneRunner extends TestRunner {
  constructor(globalConfig, context) {
    super({ ...globalConfig, maxWorkers: 1 }, context);
  }
};
