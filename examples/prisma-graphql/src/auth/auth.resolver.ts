import { UseGuards } from '@nestjs/common';
import { Args, Context, Mutation, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import {
  Authenticated,
  type CallSource,
  LoginFlow,
  type RegistrationAnswer,
  RegistrationFlow,
  SessionFlow,
} from '@svc/auth';
import { GqlThrottlerGuard } from '../common/guards/gql-throttler.guard.js';
import { PrismaService } from '../common/prisma/prisma.service.js';
import { User } from '../users/models/user.model.js';
import { LoginInput } from './dto/login.input.js';
import { RefreshTokenInput } from './dto/refresh-token.input.js';
import { SignupInput } from './dto/signup.input.js';
import { Auth } from './models/auth.model.js';
import { Token } from './models/token.model.js';

@Resolver(() => Auth)
export class AuthResolver {
  constructor(
    private readonly registration: RegistrationFlow,
    private readonly logins: LoginFlow,
    private readonly sessions: SessionFlow,
    private readonly prisma: PrismaService,
  ) {}

  @Mutation(() => Auth)
  async signup(@Args('data') data: SignupInput, @Context('req') req: CallSource) {
    return tokensOf(await this.registration.register({ ...data }, req));
  }

  @UseGuards(GqlThrottlerGuard)
  @Mutation(() => Auth)
  async login(@Args('data') { email, password }: LoginInput, @Context('req') req: CallSource) {
    return tokensOf(await this.logins.attempt({ identifier: email, password }, req));
  }

  @Mutation(() => Token)
  refreshToken(@Args() { token }: RefreshTokenInput, @Context('req') req: CallSource) {
    return this.sessions.refresh(token, req);
  }

  @Authenticated()
  @Mutation(() => Boolean)
  async logout(@Context('req') req: CallSource) {
    await this.sessions.logout(req);
    return true;
  }

  @ResolveField('user', () => User)
  user(@Parent() { userId }: Auth) {
    return this.prisma.user.findUnique({ where: { id: userId } });
  }
}

function tokensOf(answer: RegistrationAnswer) {
  // The other answers belong to features that are off, such as a second factor.
  if (!('accessToken' in answer)) throw new Error('This application knows no further step of a sign-in.');
  return answer;
}
