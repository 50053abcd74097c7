import { ArgsType, Field } from '@nestjs/graphql';
import { IsNotEmpty } from 'class-validator';
import { GraphQLToken } from '../../common/scalars/token.scalar.js';

@ArgsType()
export class RefreshTokenInput {
  @IsNotEmpty()
  @Field(() => GraphQLToken)
  token: string;
}
