export interface Config {
  nest: NestConfig;
  cors: CorsConfig;
  graphql: GraphqlConfig;
  security: SecurityConfig;
}

export interface NestConfig {
  port: number;
}

export interface CorsConfig {
  enabled: boolean;
}

export interface GraphqlConfig {
  debug: boolean;
  schemaDestination: string | true;
  sortSchema: boolean;
}

export interface SecurityConfig {
  expiresIn: '2m';
  refreshIn: '7d';
  bcryptSaltOrRound: number;
  /** Milliseconds. */
  loginTtl: number;
  /** Logins of one address in `loginTtl`. */
  loginLimit: number;
}
