import type { AuthConfig } from '../config/auth-config';
import type { Feature } from './feature';

/**
 * Why the library must not start with a feature: an account would keep its rows after the deletion, or the factor of another
 * person after its owner has taken it over. Each text with the correction. Pure.
 */
export const manifestErrors = (features: readonly Feature[]): string[] =>
  features.flatMap(({ name, data, factor, on = {} }) =>
    [
      data?.entities.length &&
        !data.erase &&
        `The feature ${name} has entities, but its data are not erased with an account. State data.erase in its manifest: rowsOfUser(entity) for each entity.`,
      factor &&
        !on.takeover &&
        `The feature ${name} has a factor that would stay when the owner of an account takes it over. State on.takeover in its manifest, which removes the factor.`,
      factor &&
        !on.endAll &&
        `The feature ${name} has a factor whose challenges would outlive the end of all sessions. State on.endAll in its manifest: endChallenges, if its challenges are tokens.`,
    ].filter((text): text is string => typeof text === 'string'),
  );

/** Which features are on at the default guard without those that they need, each text with the correction. Pure. */
export function needErrors(manifests: readonly Feature[], { guards }: AuthConfig): string[] {
  const { features } = guards.find(({ isDefault }) => isDefault)!;
  return manifests.flatMap(({ flags = [], needs = [] }) => {
    const on = flags.find((flag) => features[flag]);
    const missing = on ? needs.filter((needed) => !features[needed]) : [];
    return missing.map((needed) => `features.${on} needs features.${needed}. Turn it on, or remove features.${on}.`);
  });
}
