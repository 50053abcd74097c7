import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { type Feature, isOfDefaultGuard, isOnAt } from '../../foundation/realm/feature';
import type { UserSource } from '../../foundation/realm/user-source';
import { requiresFactor } from './required-factors';

/**
 * The factor that a guard cannot ask of the users of its source, who can have it from another guard; first one that extra guards
 * cannot have. Undefined if it can ask every factor. Pure.
 */
function missingFactor(guard: GuardConfig, { guards }: UserSource, features: readonly Feature[]): Feature | undefined {
  const missing = features.filter(
    (feature) => !isOnAt(feature, guard) && guards.some((other) => isOnAt(feature, other)),
  );
  return missing.find(isOfDefaultGuard) ?? missing[0];
}

/**
 * Why an application must not start: a guard would accept the password alone of a user who has a factor of another guard of the
 * source, although an option of the guard asks for it. Pure.
 */
function sharedFactorErrors(config: GuardConfig, source: UserSource, features: readonly Feature[]): string[] {
  const { guard, isDefault, nameOf, confirm } = config;
  const missing = missingFactor(config, source, features);
  if (!missing) return [];
  const { plural, askedBy } = missing.factor!;
  const names = source.names.filter((name) => name !== guard).join('", "');
  const same = `, and the guard "${guard}" has the same users as "${names}", who can have ${plural}. This guard has none, so `;
  const own = isDefault ? '' : `guards.${guard}.`;
  const routes = 'and mark its routes with @RequireFactor()';
  const orOn = isOfDefaultGuard(missing) ? '.' : `, or switch features.${missing.name} on for this guard.`;
  return [
    requiresFactor(config) &&
      features.some((feature) => isOnAt(feature, config)) &&
      `${nameOf('twoFactor.required')} is set${same}such a user could enrol another factor with the password alone. ` +
        `Set ${own}twoFactor.required to false, ${routes}${orOn}`,
    askedBy &&
      askedBy.value(config) !== false &&
      `${nameOf(askedBy.option)} is set${same}such a user could sign in with the password alone. ` +
        `Set ${own}${askedBy.option} to false, ${routes}.`,
    confirm.factors === 'all' &&
      `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "all"${same}such a user could confirm with the password alone. ` +
        `Set ${own}confirm.factors to "one"${orOn}`,
  ].filter((text): text is string => typeof text === 'string');
}

/** Why an application must not start: no user could sign in, or less would be asked than an option states. */
export function factorErrors(
  { verifyOnly, guards }: AuthConfig,
  _production: boolean,
  sources: ReadonlyMap<string, UserSource>,
  manifests: readonly Feature[],
): string[] {
  const features = manifests.filter(({ factor }) => factor);
  const ofAllGuards = features.filter((feature) => !isOfDefaultGuard(feature)).map(({ name }) => `features.${name}`);
  return guards.flatMap((guard) => {
    const { nameOf, confirm } = guard;
    const factors: string = confirm.factors;
    return [
      !verifyOnly &&
        requiresFactor(guard) &&
        !features.some((feature) => isOnAt(feature, guard)) &&
        `${nameOf('twoFactor.required')} is set, but the users of the guard "${guard.guard}" can have no second factor, so ` +
          `none of them could sign in. Switch ${ofAllGuards.join(' or ')} on for this guard, or set guards.${guard.guard}.twoFactor.required to false.`,
      ...(verifyOnly ? [] : sharedFactorErrors(guard, sources.get(guard.guard)!, features)),
      !['one', 'all'].includes(factors) &&
        `${nameOf('confirm.factors')} (SVC_CONFIRM_FACTORS) is "${factors}". Use one or all.`,
    ].filter((text): text is string => typeof text === 'string');
  });
}
