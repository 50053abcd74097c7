process.env.TEST_NEST = '11';
