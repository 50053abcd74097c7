import type { Config } from './config.interface.js';

const config: Config = {
  nest: {
    port: 3000,
  },
  cors: {
    enabled: true,
  },
  graphql: {
    debug: false,
    schemaDestination: true,
    sortSchema: true,
  },
  security: {
    expiresIn: '2m',
    refreshIn: '7d',
    bcryptSaltOrRound: 10,
    loginTtl: 60_000,
    loginLimit: 20,
  },
};

export default (): Config => config;
