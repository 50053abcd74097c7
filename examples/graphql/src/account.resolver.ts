import { Args, Context, Field, Mutation, ObjectType, Query, Resolver } from '@nestjs/graphql';
import {
  Auth,
  Authenticated,
  type CallSource,
  type Caller,
  CurrentCaller,
  CurrentUser,
  type RegistrationAnswer,
  RequireAbilityIfPinned,
} from '@svc/auth';
import { User } from './users.js';

interface Operation {
  req: CallSource;
  res: object;
}

@ObjectType()
class Tokens {
  @Field()
  accessToken!: string;

  @Field(() => String, { nullable: true })
  refreshToken?: string;
}

@ObjectType()
class Me {
  @Field()
  name!: string;

  @Field()
  email!: string;
}

@Resolver()
export class AccountResolver {
  constructor(private readonly auth: Auth) {}

  @Query(() => Me)
  @Authenticated()
  me(@CurrentUser() user: User) {
    return user;
  }

  @Mutation(() => Tokens)
  async register(
    @Args('name') name: string,
    @Args('email') email: string,
    @Args('password') password: string,
    @Context() { req, res }: Operation,
  ) {
    return this.tokens(await this.auth.registration.register({ name, email, password }, req), res);
  }

  @Mutation(() => Tokens)
  async login(
    @Args('email') identifier: string,
    @Args('password') password: string,
    @Context() { req, res }: Operation,
  ) {
    return this.tokens(await this.auth.login.attempt({ identifier, password }, req), res);
  }

  @Mutation(() => Tokens)
  async refresh(@Args('refreshToken') refreshToken: string, @Context() { req, res }: Operation) {
    return this.tokens(await this.auth.sessions.refresh(refreshToken, req), res);
  }

  @Mutation(() => Boolean)
  @Authenticated()
  async logout(@Context() { req, res }: Operation) {
    await this.auth.sessions.logout(req);
    this.auth.forget(res);
    return true;
  }

  /** A token for a machine: its session keeps exactly this ability. It cannot create further tokens. */
  @Mutation(() => String)
  @RequireAbilityIfPinned('tokens.create')
  async readOnlyToken(@CurrentCaller() { userId }: Caller) {
    const { accessToken } = await this.auth.startSession(userId, { label: 'read-only' }, ['notes.read']);
    return accessToken;
  }

  private tokens(answer: RegistrationAnswer, response: object): Tokens {
    // The other answers belong to features that this application does not use, such as a second factor.
    if (!('accessToken' in answer)) throw new Error('This application knows no further step of a sign-in.');
    const { access_token: accessToken, refresh_token: refreshToken } = this.auth.deliver(response, answer);
    return { accessToken, refreshToken };
  }
}
