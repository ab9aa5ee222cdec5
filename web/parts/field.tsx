import { type ComponentProps, type ReactNode, useId } from 'react';

type Around = {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with the value; said to screen readers. */
  readonly fault?: string | null;
};

/** A label, a control, a hint and a fault, tied together. `control` gets the attributes that tie them. */
function Field({
  label,
  hint,
  fault,
  control,
}: Around & {
  readonly control: (ties: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
    readonly className: string;
  }) => ReactNode;
}) {
  const id = useId();
  const wrong = fault !== null && fault !== undefined;
  const described = [hint === undefined ? null : `${id}-hint`, wrong ? `${id}-fault` : null].filter((each) => each);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {control({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': wrong,
        className: 'input',
      })}
      {hint === undefined ? null : (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong ? (
        <span className="fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      ) : null}
    </div>
  );
}

export const TextField = ({ label, hint, fault, ...rest }: Around & ComponentProps<'input'>) => (
  <Field label={label} hint={hint} fault={fault ?? null} control={(ties) => <input {...rest} {...ties} />} />
);

/** `className` is further classes of the text area. */
export const AreaField = ({ label, hint, fault, className = '', ...rest }: Around & ComponentProps<'textarea'>) => (
  <Field
    label={label}
    hint={hint}
    fault={fault ?? null}
    control={(ties) => <textarea {...rest} {...ties} className={`${ties.className} ${className}`} />}
  />
);

/** @param options value and words of each */
export const SelectField = ({
  label,
  hint,
  fault,
  options,
  ...rest
}: Around & ComponentProps<'select'> & { readonly options: readonly (readonly [value: string, words: string])[] }) => (
  <Field
    label={label}
    hint={hint}
    fault={fault ?? null}
    control={(ties) => (
      <select {...rest} {...ties}>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    )}
  />
);
