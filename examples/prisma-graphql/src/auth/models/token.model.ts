import { Field, ObjectType } from '@nestjs/graphql';
import { GraphQLToken } from '../../common/scalars/token.scalar.js';

@ObjectType()
export class Token {
  @Field(() => GraphQLToken, { description: 'JWT access token' })
  accessToken: string;

  @Field(() => GraphQLToken, { description: 'Refresh token, for one use' })
  refreshToken: string;

  /** For the field `user`. It is no field of the schema. */
  userId: string;
}
