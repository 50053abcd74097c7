import { UseGuards } from '@nestjs/common';
import { Field, Mutation, ObjectType, Parent, Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import {
  Abilities,
  AbilitiesGuard,
  type AuthModuleOptions,
  Auth,
  Authenticated,
  type Caller,
  ConfirmationGuard,
  CurrentCaller,
  CurrentUser,
  Public,
  RequireAbilityIfPinned,
  RecentLoginGuard,
  RequireConfirmation,
  RequireRecentLogin,
  Throttled,
  tokenCan,
} from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from './user-entities';

@ObjectType()
class Note {
  @Field()
  text!: string;
}

/** The caller as text. */
export const callerText = ({ guard, userId }: Caller): string => `${guard}:${userId}`;

/** The options that the gates of this resolver need: abilities in use, and a limiter of the host. */
export const gateOptions = (): Partial<AuthModuleOptions> => ({
  keyPrefix: `${randomUUID()}:`,
  hooks: { abilities: () => ['notes:read'] },
  rateLimits: { limiters: { twice: (_, { client }) => ({ key: client, maxAttempts: 2, decaySeconds: 60 }) } },
});

/** A resolver of a host that uses every kind of gate. */
@Resolver(() => Note)
export class NotesResolver {
  constructor(private readonly auth: Auth) {}

  /** Calls a feature that is off. */
  @Query(() => String)
  async enrol() {
    return String(await this.auth.enrolment.start({}));
  }

  @Query(() => String)
  @Authenticated()
  me(@CurrentUser() { email }: Person, @CurrentCaller() caller: Caller) {
    return `${callerText(caller)}:${email}`;
  }

  @Query(() => String)
  @Authenticated({ optional: true })
  visitor(@CurrentUser() user?: Person) {
    return user?.email ?? 'none';
  }

  @Query(() => String)
  @Authenticated('admin')
  staff(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Query(() => Note)
  @Authenticated()
  note() {
    return { text: 'of ' };
  }

  @ResolveField(() => String)
  owner(@Parent() { text }: Note, @CurrentCaller() caller: Caller) {
    return text + callerText(caller);
  }

  @Mutation(() => String)
  @Abilities('notes:write')
  write(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Mutation(() => String)
  @RequireConfirmation()
  erase(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Query(() => [Boolean])
  @Authenticated()
  may(@CurrentUser() user: Person) {
    return [tokenCan(user, 'notes:read'), user.tokenCan('notes:write')];
  }

  @Mutation(() => String)
  @UseGuards(AbilitiesGuard('notes:write'))
  writeByGuard(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Mutation(() => String)
  @RequireRecentLogin(600)
  burn(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Mutation(() => String)
  @UseGuards(RecentLoginGuard(600))
  burnByGuard(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Mutation(() => String)
  @UseGuards(ConfirmationGuard)
  eraseByGuard(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Mutation(() => String)
  @RequireAbilityIfPinned('notes:publish')
  publish(@CurrentCaller() caller: Caller) {
    return callerText(caller);
  }

  @Query(() => String)
  @Public()
  @Throttled('twice')
  limited() {
    return 'in';
  }

  @Subscription(() => String)
  @Authenticated()
  async *ticks(@CurrentCaller() caller: Caller) {
    for (;;) {
      yield { ticks: callerText(caller) };
      await sleep(5);
    }
  }
}
