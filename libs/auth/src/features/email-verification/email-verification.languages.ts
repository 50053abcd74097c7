import type { texts } from '../../kit';
import { EMAIL_VERIFICATION_MESSAGES } from './email-verification.texts';

export const emailVerificationLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof EMAIL_VERIFICATION_MESSAGES> & texts.WithMails<'emailVerification'>
> = {
  en: {
    messages: EMAIL_VERIFICATION_MESSAGES,
    mails: {
      emailVerification: {
        subject: 'Confirm your email address for {appName}',
        preheader: 'Confirm with the link in this mail that the address is yours.',
        title: 'Confirm your email address',
        body: 'Please confirm that this is your email address.',
        link: 'Confirm the address',
        note: 'If you have no account at {appName}, ignore this mail.',
      },
    },
  },
  de: {
    messages: {
      'auth.email_unverified': 'Bestätigen Sie zuerst Ihre E-Mail-Adresse.',
      'auth.bad_link': 'Dieser Link ist nicht oder nicht mehr gültig.',
      'auth.outdated_link': 'Dieser Link gilt für eine andere E-Mail-Adresse.',
    },
    mails: {
      emailVerification: {
        subject: 'Bestätigen Sie Ihre E-Mail-Adresse für {appName}',
        preheader: 'Bestätigen Sie mit dem Link in dieser E-Mail, dass die Adresse Ihnen gehört.',
        title: 'E-Mail-Adresse bestätigen',
        body: 'Bitte bestätigen Sie, dass dies Ihre E-Mail-Adresse ist.',
        link: 'Adresse bestätigen',
        note: 'Wenn Sie kein Konto bei {appName} haben, ignorieren Sie diese E-Mail.',
      },
    },
  },
  fr: {
    messages: {
      'auth.email_unverified': 'Confirmez d’abord votre adresse e-mail.',
      'auth.bad_link': 'Ce lien n’est pas valable ou ne l’est plus.',
      'auth.outdated_link': 'Ce lien concerne une autre adresse e-mail.',
    },
    mails: {
      emailVerification: {
        subject: 'Confirmez votre adresse e-mail pour {appName}',
        preheader: 'Confirmez avec le lien de cet e-mail que cette adresse est la vôtre.',
        title: 'Confirmer votre adresse e-mail',
        body: 'Veuillez confirmer qu’il s’agit bien de votre adresse e-mail.',
        link: 'Confirmer l’adresse',
        note: 'Si vous n’avez pas de compte {appName}, ignorez cet e-mail.',
      },
    },
  },
  es: {
    messages: {
      'auth.email_unverified': 'Confirme primero su dirección de correo electrónico.',
      'auth.bad_link': 'Este enlace no es válido o ha dejado de serlo.',
      'auth.outdated_link': 'Este enlace corresponde a otra dirección de correo electrónico.',
    },
    mails: {
      emailVerification: {
        subject: 'Confirme su correo electrónico para {appName}',
        preheader: 'Confirme con el enlace de este mensaje que la dirección es suya.',
        title: 'Confirmar su dirección de correo electrónico',
        body: 'Confirme que esta es su dirección de correo electrónico.',
        link: 'Confirmar la dirección',
        note: 'Si no tiene una cuenta de {appName}, ignore este mensaje.',
      },
    },
  },
  pt: {
    messages: {
      'auth.email_unverified': 'Confirme primeiro seu endereço de e-mail.',
      'auth.bad_link': 'Este link não é válido ou deixou de ser.',
      'auth.outdated_link': 'Este link é para outro endereço de e-mail.',
    },
    mails: {
      emailVerification: {
        subject: 'Confirme seu e-mail para {appName}',
        preheader: 'Confirme com o link deste e-mail que o endereço é seu.',
        title: 'Confirmar seu endereço de e-mail',
        body: 'Confirme que este é o seu endereço de e-mail.',
        link: 'Confirmar o endereço',
        note: 'Se você não tem uma conta em {appName}, ignore este e-mail.',
      },
    },
  },
  ja: {
    messages: {
      'auth.email_unverified': '先にメールアドレスを確認してください。',
      'auth.bad_link': 'このリンクは無効であるか、無効になりました。',
      'auth.outdated_link': 'このリンクは別のメールアドレス用です。',
    },
    mails: {
      emailVerification: {
        subject: '{appName} のメールアドレスの確認',
        preheader: 'このメールのリンクから、メールアドレスの確認を完了してください。',
        title: 'メールアドレスの確認',
        body: 'このメールアドレスがお客様のものであることを確認してください。',
        link: 'メールアドレスを確認する',
        note: '{appName} のアカウントをお持ちでない場合は、このメールを破棄してください。',
      },
    },
  },
};
