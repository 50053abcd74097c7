import { featureTexts } from '../../foundation/platform/messages';

export const CHALLENGE_MESSAGES = {
  'auth.wrong_code': 'The code is not correct.',
  'auth.used_code': 'This code, or a newer one, was already used. Please wait for the next code.',
  'auth.one_factor_only': 'Give one second factor, not several.',
  'auth.bad_challenge': 'This sign-in has expired. Please start again.',
  'auth.bad_enrolment': 'This sign-in has expired, or a second factor was set up. Please start again.',
  'auth.second_factor_required': 'This account must have a second factor. Set up another one first.',
};

declare module '../../foundation/platform/messages' {
  interface FeatureMessages extends Record<keyof typeof CHALLENGE_MESSAGES, string> {}
}

export const challengeText = featureTexts(CHALLENGE_MESSAGES);

declare module '../../foundation/ports/mail' {
  interface ChangeMails {
    /** After a second factor with `trust_device`: see `twoFactor.trustedDeviceDays`. */
    deviceTrusted: ChangeTemplate;
  }
}
