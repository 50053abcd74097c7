// Loaded before each test file that runs in Firefox.
process.env.TEST_BROWSER = 'firefox';
