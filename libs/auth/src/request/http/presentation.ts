import { Injectable, Logger } from '@nestjs/common';
import { callHost } from '../../foundation/platform/deadline';
import { type PresentedRequest, Presenter } from '../../foundation/ports/presenter';
import { Realm } from '../../foundation/realm/realm';
import type { RouteDeclaration } from '../../foundation/realm/route';
import { callerOf } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { aboutAnswer, isChallenge, isEnrolment } from '../gates/request-log';

/** What an answer is for the presenter; undefined for an answer that is not presented. */
type Presented = RouteDeclaration['presentedAs'];

type PresentDone = (presenter: Presenter, answer: PresentedRequest) => object | undefined | Promise<object | undefined>;

type Present = (fields: object, answer: PresentedRequest) => object | Promise<object>;

/** Passes the answers of the realm's routes to its presenter. */
@Injectable()
export class Presentation {
  private readonly logger = new Logger('Auth');
  /** Whether the host has set a presenter. */
  readonly isCustom: boolean;

  constructor(
    private readonly presenter: Presenter,
    private readonly users: TimedUserProvider,
    private readonly realm: Realm,
  ) {
    this.isCustom = presenter.constructor !== Presenter;
  }

  /**
   * Returns the body for an answer. Answers that are not presented are returned unchanged, and so are all
   * answers when the presenter fails or does not settle in time: the request has had its effect, and a client must not
   * lose its new tokens.
   */
  of(kind: Presented, answer: unknown, request: object): Promise<unknown> {
    return this.orUnchanged(answer, () => this.presented(kind, answer, request));
  }

  /** Returns the body of an answer that has no fields of the library; undefined for the default answer. */
  ofDone(request: object, userId: string, present: PresentDone): Promise<object | undefined> {
    return this.orUnchanged(undefined, async () => present(this.presenter, this.about(request, userId)));
  }

  private async orUnchanged<T>(answer: T, present: () => Promise<T>): Promise<T> {
    try {
      return await callHost('the presenter', present);
    } catch (error) {
      this.logger.error('the presenter failed; the answer is not presented', (error as Error)?.stack);
      return answer;
    }
  }

  private async presented(kind: Presented, answer: unknown, request: object): Promise<unknown> {
    const userId = aboutAnswer(answer).user_id ?? callerOf(request, this.realm.guard)?.userId ?? null;
    const about = this.about(request, userId);
    if (kind === 'logout') return this.presenter.logout(about);
    if (isChallenge(answer)) return this.presenter.challenge(answer, about);
    if (isEnrolment(answer)) return this.presenter.enrolment(answer, about);
    // An answer that conceals its result is not presented: a presenter might add what it conceals.
    if (kind === undefined || 'status' in (answer as object)) return answer;
    return (this.presenter[kind] as Present)(answer as object, about);
  }

  private about(request: object, userId: string | null): PresentedRequest {
    const user = async (): Promise<object | null> => (userId === null ? null : this.users.findById(userId));
    return { request, guard: this.realm.guard, userId, user };
  }
}
