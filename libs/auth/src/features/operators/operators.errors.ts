import { errors } from '../../kit';
import { operatorsText } from './operators.texts';

/** The user does not exist: 404. */
export class UserNotFound extends errors.AuthException {
  constructor() {
    super('no_such_user', { status: 404, text: operatorsText('auth.no_such_user'), reason: 'no_such_user' });
  }
}

/** The user is an operator, whom no operator changes: 403. The reason says whether it is another one. */
export class OperatorProtected extends errors.AuthException {
  constructor(reason: 'own_account' | 'operator_protected' = 'operator_protected') {
    super('operator_protected', { status: 403, text: operatorsText('auth.operator_protected'), reason });
  }
}

/** The action has no effect on the account as it is: 409. */
export class NotApplicable extends errors.AuthException {
  constructor(reason: 'nothing_to_remove' | 'no_password' | 'not_suspended' | 'cannot_act') {
    super('not_applicable', { status: 409, text: operatorsText(`auth.${reason}`), reason });
  }
}

/** An operator who acts as the user: 403. */
export class ActorRefused extends errors.AuthException {
  constructor() {
    super('actor_refused', { status: 403, text: operatorsText('auth.actor_refused'), reason: 'actor_refused' });
  }
}

/** A field whose value cannot be used: 422. */
export const unusableField = (field: string): errors.AuthException =>
  new errors.ValidationFailed({ [field]: [{ key: 'validation.invalid', params: { field } }] });

/** The reasons of the refusals, for the manifest: see `Reasons`. */
export const OPERATOR_REASONS = {
  no_such_user: 'an operator has named a user that does not exist',
  operator_protected: 'an operator has named an operator, whom only the console changes',
  not_applicable: 'the action of an operator has no effect on the account as it is',
  actor_refused: 'the route refuses an operator who acts as the user (`@RefuseActor()`)',
};
