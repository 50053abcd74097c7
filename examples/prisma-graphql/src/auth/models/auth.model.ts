import { ObjectType } from '@nestjs/graphql';
import type { User } from '../../users/models/user.model.js';
import { Token } from './token.model.js';

@ObjectType()
export class Auth extends Token {
  user: User;
}
