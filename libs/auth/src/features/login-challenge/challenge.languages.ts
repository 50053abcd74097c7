import type { InEachLanguage, WithMails, WithMessages } from '../../foundation/languages/catalogue';
import { CHALLENGE_MESSAGES } from './challenge.texts';

export const challengeLanguages: InEachLanguage<
  WithMessages<keyof typeof CHALLENGE_MESSAGES> & WithMails<'deviceTrusted'>
> = {
  en: {
    messages: CHALLENGE_MESSAGES,
    mails: {
      deviceTrusted: {
        subject: 'New trusted device for your {appName} account',
        title: 'A device is trusted',
        body: 'A device is now trusted for your account at {appName}. Signing in on it no longer requires a second factor, only your password.',
      },
    },
  },
  de: {
    messages: {
      'auth.wrong_code': 'Der Code ist nicht korrekt.',
      'auth.used_code': 'Dieser Code oder ein neuerer wurde schon verwendet. Bitte warten Sie auf den nächsten Code.',
      'auth.one_factor_only': 'Geben Sie nur einen zweiten Faktor an, nicht mehrere.',
      'auth.bad_challenge': 'Diese Anmeldung ist abgelaufen. Bitte beginnen Sie von vorn.',
      'auth.bad_enrolment':
        'Diese Anmeldung ist abgelaufen, oder ein zweiter Faktor wurde eingerichtet. Bitte beginnen Sie von vorn.',
      'auth.second_factor_required':
        'Dieses Konto muss einen zweiten Faktor haben. Richten Sie zuerst einen anderen ein.',
    },
    mails: {
      deviceTrusted: {
        subject: 'Neues vertrauenswürdiges Gerät bei {appName}',
        title: 'Ein Gerät ist vertrauenswürdig',
        body: 'Für Ihr Konto bei {appName} ist ein Gerät jetzt vertrauenswürdig. Zur Anmeldung auf diesem Gerät genügt das Passwort, ohne zweiten Faktor.',
      },
    },
  },
  fr: {
    messages: {
      'auth.wrong_code': 'Le code est incorrect.',
      'auth.used_code': 'Ce code, ou un plus récent, a déjà été utilisé. Veuillez attendre le code suivant.',
      'auth.one_factor_only': 'N’indiquez qu’un seul second facteur.',
      'auth.bad_challenge': 'Cette connexion a expiré. Veuillez recommencer.',
      'auth.bad_enrolment': 'Cette connexion a expiré, ou un second facteur a été configuré. Veuillez recommencer.',
      'auth.second_factor_required': 'Ce compte doit avoir un second facteur. Configurez-en d’abord un autre.',
    },
    mails: {
      deviceTrusted: {
        subject: 'Nouvel appareil approuvé pour votre compte {appName}',
        title: 'Un appareil est approuvé',
        body: 'Un appareil est désormais approuvé pour votre compte {appName}. Pour s’y connecter, le mot de passe suffit, sans second facteur.',
      },
    },
  },
  es: {
    messages: {
      'auth.wrong_code': 'El código no es correcto.',
      'auth.used_code': 'Este código, o uno más reciente, ya se ha utilizado. Espere al siguiente código.',
      'auth.one_factor_only': 'Indique un solo segundo factor, no varios.',
      'auth.bad_challenge': 'Este inicio de sesión ha caducado. Vuelva a empezar.',
      'auth.bad_enrolment':
        'Este inicio de sesión ha caducado o se ha configurado un segundo factor. Vuelva a empezar.',
      'auth.second_factor_required': 'Esta cuenta debe tener un segundo factor. Configure otro primero.',
    },
    mails: {
      deviceTrusted: {
        subject: 'Nuevo dispositivo de confianza en {appName}',
        title: 'Un dispositivo es de confianza',
        body: 'Un dispositivo es ahora de confianza en su cuenta de {appName}. Para iniciar sesión en él basta la contraseña, sin segundo factor.',
      },
    },
  },
  pt: {
    messages: {
      'auth.wrong_code': 'O código não está correto.',
      'auth.used_code': 'Este código, ou um mais recente, já foi usado. Aguarde o próximo código.',
      'auth.one_factor_only': 'Informe apenas um segundo fator, não vários.',
      'auth.bad_challenge': 'Esta tentativa de entrar expirou. Comece novamente.',
      'auth.bad_enrolment': 'Esta tentativa de entrar expirou ou um segundo fator foi configurado. Comece novamente.',
      'auth.second_factor_required': 'Esta conta precisa ter um segundo fator. Configure outro primeiro.',
    },
    mails: {
      deviceTrusted: {
        subject: 'Novo dispositivo confiável em {appName}',
        title: 'Um dispositivo é confiável',
        body: 'Um dispositivo agora é confiável na sua conta em {appName}. Para entrar nele basta a senha, sem segundo fator.',
      },
    },
  },
  ja: {
    messages: {
      'auth.wrong_code': 'コードが正しくありません。',
      'auth.used_code': 'このコード、またはより新しいコードはすでに使用されています。次のコードをお待ちください。',
      'auth.one_factor_only': '第二要素は 1 つだけ指定してください。',
      'auth.bad_challenge': 'このログインは期限切れです。最初からやり直してください。',
      'auth.bad_enrolment': 'このログインは期限切れか、第二要素が設定されました。最初からやり直してください。',
      'auth.second_factor_required': 'このアカウントには第二要素が必要です。先に別の第二要素を設定してください。',
    },
    mails: {
      deviceTrusted: {
        subject: '{appName} のアカウントに信頼済みデバイスが追加されました',
        title: '信頼済みデバイスが追加されました',
        body: '{appName} のアカウントに信頼済みデバイスが追加されました。このデバイスでは、第二要素なしでパスワードだけでログインできます。',
      },
    },
  },
};
