{{- define "discreet.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}-discreet
{{- end -}}

{{- define "discreet.labels" -}}
app.kubernetes.io/name: discreet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
