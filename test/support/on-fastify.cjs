process.env.TEST_ADAPTER = 'fastify';
