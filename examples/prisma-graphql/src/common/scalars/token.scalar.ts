import { GraphQLScalarType, GraphQLString } from 'graphql';

/** Both kinds of tokens. Clients name this scalar in their operations, so its name stays, but a refresh token is no JWT. */
export const GraphQLToken = new GraphQLScalarType({
  ...GraphQLString.toConfig(),
  name: 'JWT',
  description: 'An access token, which is a JWT, or a refresh token, which is another text',
});
